internal import VoiceCoding
internal import VoiceDevices
internal import VoiceRealtime
internal import VoiceSignal

/// How a stream that an app feeds is encoded.
package struct StreamEncoding: BitwiseCopyable, Equatable, Sendable {
    package var application: OpusApplication
    package var settings: OpusEncoderSettings
    /// How far it follows what listeners report.
    package var adaptation: SenderAdaptationPolicy

    package init(
        application: OpusApplication, settings: OpusEncoderSettings, adaptation: SenderAdaptationPolicy = .adaptive
    ) {
        self.application = application
        self.settings = settings
        self.adaptation = adaptation
    }
}

/// A sender at an address that stays, for as long as its owner lives.
final class StreamMemory {
    private let memory: OwnedMemory<StreamSender>

    init(_ encoding: StreamEncoding) throws(EngineError) { memory = OwnedMemory(try StreamSender(encoding)) }

    var pointer: UnsafeMutablePointer<StreamSender> { unsafe memory.pointer }
}

/// A stream that an app feeds, beside the microphone's: what its queue has is encoded and sent as it comes, without any
/// processing.
///
///     SpeechQueue ─► 10 ms block ─► PacketSender ─► send ring
///     reports about it ─► StreamReports ─┘ plan
///
/// The capture clock drives it. Where the queue has nothing, nothing is sent but a little silence, in which listeners'
/// decoders come to rest, and the timestamps go on. Nothing is allocated after `init`.
struct StreamSender: ~Copyable {
    private var sender: PacketSender
    private var block = InlineArray<480, Float>(repeating: 0)
    private var statistics = SenderStatistics()
    /// What listeners say of it.
    private(set) var reports: StreamReports
    /// What it is sent as; nil while it is not.
    private(set) var source: UInt32?
    /// Frames given to the codec so far.
    private var position = 0
    /// Frames to come that are not sent.
    private var skipped = 0
    /// How much silence is sent behind sound: 60 ms, so that one lost packet, of which nothing more tells, does not leave
    /// the end to be made up.
    private static let restFrames = 2_880

    init(_ encoding: StreamEncoding) throws(EngineError) {
        reports = StreamReports(
            EngineConfiguration.Sending(encoder: encoding.settings, adaptation: encoding.adaptation))
        do throws(OpusError) {
            let encoder = try OpusEncoder(application: encoding.application, settings: encoding.settings)
            sender = PacketSender(encoder: encoder, restFrames: Self.restFrames, statistics: &statistics)
        } catch {
            throw EngineError(error)
        }
    }

    mutating func publish(_ start: RTPStreamStart) {
        sender.expectCut()
        sender.publish(start)
        reports.begin(start)
        sender.follow(reports.plan)
        source = start.synchronizationSource
    }

    /// Sends nothing more of it. Returns where it stands, if it was ever published.
    mutating func stopPublishing() -> RTPStreamStart? {
        sender.stopPublishing()
        reports.end()
        source = nil
        return sender.lastStream
    }

    /// Takes what a listener says of it, and sends accordingly from the next packet on.
    mutating func take(_ word: ListenerWord, arrival: Duration) {
        _ = reports.take(word, arrival: arrival)
        sender.follow(reports.plan)
    }

    /// Sends a report of what was sent, where something was since the last but one.
    mutating func sendReport(through exchange: inout ReportExchange, to outlet: inout PacketOutlet, now: MonotonicTime)
    {
        reports.forgetSilent(now: now.sinceEpoch)
        guard source != nil, sender.hasSentOfLate else { return }
        sender.sendReport(ReceptionReports(), through: &exchange, to: &outlet, now: now)
    }

    func counts(of line: UInt64) -> OutgoingCounts {
        OutgoingCounts(line: line, source: source, sender: statistics, listeners: reports.listeners)
    }

    /// The stream was interrupted: what is queued from now on is of this generation, whatever the microphone's clock
    /// shows; the queue drops the rest.
    mutating func begin(generation: UInt32) {
        guard sender.begin(generation: generation, now: nil) else { return }
        // Listeners have faded out what they heard.
        skipped = UnderrunFade.frames
    }

    /// Takes the next `frames` of the queue, and sends what makes a packet.
    mutating func take(
        _ frames: Int, from queue: UnsafeMutablePointer<SpeechQueue>, adcTime: MonotonicTime, _ clock: RunClock,
        to outlet: inout PacketOutlet
    ) {
        var whole = block.mutableSpan
        var into = whole._mutatingExtracting(0..<frames)
        unsafe queue.pointee.take(into: &into, ringFrame: Double(position), scale: 1)
        // What is sent counts as heard: nobody tells how far it was.
        unsafe queue.pointee.trail.rendered(RenderedSpan(firstFrame: position, frames: frames, dacTime: clock.start))
        position += frames
        for index in 0..<min(skipped, frames) { block[index] = 0 }
        skipped = max(skipped - frames, 0)
        let level = decibelsFullScale(of: block.span.extracting(first: frames))
        let isSounding = level > -100
        let moment = BlockMoment(
            adcTime: adcTime, delayFrames: 0, level: isSounding ? level : -127, hasVoice: isSounding,
            isAudible: isSounding)
        sender.collect(
            block.span.extracting(first: frames), moment, clock: clock, to: &outlet, statistics: &statistics)
    }
}
