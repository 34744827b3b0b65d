internal import CDuplexVoice
internal import VoiceProcessing
internal import VoiceRealtime

/// What the sound side tells the control side after each call.
struct ProcessorNews: BitwiseCopyable, Sendable {
    /// Nil before the first block.
    var report: ProcessingChain.Report?
    var blocks: UInt64 = 0
    var failedBlocks = 0
    var active: ProcessingSettings
    /// Frames of the caller's.
    var delay: Int
    /// Frames of a second, as `report` counts them.
    var innerRate: Int
}

/// The object behind a `dv_processor`.
///
///     control: apply ──> TripleBuffer of settings ──> sound: run
///              report <── TripleBuffer of news <─────
///
/// The table of handles lets one call at a time to each side, so neither is touched by two threads at once.
final class Processor: HandledObject, @unchecked Sendable {
    static var handleKind: UInt8 { HandleKind.processor }

    private var sound: ProcessorSound
    private var control: ProcessorControl
    private let blockFrames: Int

    private init(sound: consuming ProcessorSound, control: consuming ProcessorControl, blockFrames: Int) {
        self.sound = sound
        self.control = control
        self.blockFrames = blockFrames
    }

    /// Allocates and takes milliseconds.
    static func make(
        _ configuration: ProcessorConfiguration, _ settings: ProcessingSettings
    ) throws(Failure) -> Processor {
        let stream = try makeStream(configuration, settings)
        let news = ProcessorNews(
            active: stream.activeSettings, delay: stream.delay, innerRate: configuration.plan.inner)
        let settingsBuffer = TripleBuffer(settings)
        let newsBuffer = TripleBuffer(news)
        return Processor(
            sound: ProcessorSound(
                stream: stream, settings: settingsBuffer.reader, news: newsBuffer.writer, tried: settings,
                innerRate: configuration.plan.inner),
            control: ProcessorControl(settings: settingsBuffer.writer, news: newsBuffer.reader),
            blockFrames: configuration.blockFrames)
    }

    private static func makeStream(
        _ configuration: ProcessorConfiguration, _ settings: ProcessingSettings
    ) throws(Failure) -> BlockStream {
        let chain: ProcessingChain
        do throws(ProcessingError) {
            chain = try ProcessingChain(
                sampleRate: configuration.plan.inner, settings: settings, backend: configuration.backend,
                configuration: ProcessingChain.Configuration(expectedDelay: configuration.expectedDelay))
        } catch {
            throw Failure(error)
        }
        return try BlockStream(
            configuration.plan, captureChannels: configuration.captureChannels,
            referenceChannels: configuration.referenceChannels, blockFrames: configuration.blockFrames, chain: chain)
    }

    /// Any number of frames that the configuration allows; see duplexvoice.h.
    func run<Sample: PCMSample>(
        _ capture: UnsafePointer<Sample>?, _ reference: UnsafePointer<Sample>?, _ output: UnsafeMutablePointer<Sample>?,
        _ frames: Int
    ) -> dv_status {
        guard SoundCall.takes(frames), frames % max(1, blockFrames) == 0 else { return DV_INVALID_ARGUMENT }
        guard frames > 0 else { return DV_OK }
        guard let capture = unsafe capture, let output = unsafe output else { return DV_INVALID_ARGUMENT }
        unsafe sound.run(capture, reference, output, frames)
        return DV_OK
    }

    /// For the control side alone.
    func apply(_ settings: ProcessingSettings) { control.settings.publish(settings) }
    func news() -> ProcessorNews { control.news.latest() }
}

/// What only the sound side touches.
struct ProcessorSound: ~Copyable {
    var stream: BlockStream
    var settings: TripleBufferReader<ProcessingSettings>
    var news: TripleBufferWriter<ProcessorNews>
    /// The settings that were last applied, or tried.
    var tried: ProcessingSettings
    let innerRate: Int

    mutating func run<Sample: PCMSample>(
        _ capture: UnsafePointer<Sample>, _ reference: UnsafePointer<Sample>?, _ output: UnsafeMutablePointer<Sample>,
        _ frames: Int
    ) {
        let wanted = settings.latest()
        if wanted != tried {
            tried = wanted
            // They are valid; a library that refuses them leaves the old ones, and what is active is told.
            try? stream.apply(wanted)
        }
        unsafe stream.run(capture: capture, reference: reference, output: output, frames: frames)
        news.publish(
            ProcessorNews(
                report: stream.report, blocks: stream.blocks, failedBlocks: stream.failedBlocks,
                active: stream.activeSettings, delay: stream.delay, innerRate: innerRate))
    }
}

/// What only the control side touches.
struct ProcessorControl: ~Copyable {
    var settings: TripleBufferWriter<ProcessingSettings>
    var news: TripleBufferReader<ProcessorNews>
}
