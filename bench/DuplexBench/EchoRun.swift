import VoiceEngine
import VoiceSimulation

/// What a backend made of a recording.
struct EchoRun {
    /// Blocks that do not count for CPU: caches and tables warm up.
    private static let warmUp = 100
    private static let block = 480

    /// The output, moved to where the microphone's frames were; shorter by the backend's delay.
    let output: [Float]
    let delayFrames: Int
    /// CPU time of each block after the first ones: the least of all passes, since what another process or the host
    /// took is not the block's.
    let microseconds: [Double]

    init(
        _ recording: EchoRecording, through backend: ProcessingBackend,
        echo: ProcessingSettings.EchoSuppression = .soft, passes: Int = 1
    ) throws {
        let settings = ProcessingSettings(echo: echo, highPass: true)
        var least = [Double](repeating: .infinity, count: recording.microphone.count / Self.block)
        var made = recording.microphone
        var delay = 0
        for _ in 0..<passes {
            var chain = try ProcessingChain(sampleRate: 48_000, settings: settings, backend: backend)
            Self.pass(recording, through: &chain, into: &made, least: &least)
            delay = chain.processor.processingDelay
        }
        self.init(made, delay: delay, least: least)
    }

    /// - Parameter delay: frames by which AEC3's output lags.
    init(_ recording: EchoRecording, through aec3: AEC3Program, delay: Int, passes: Int = 1) throws {
        var least = [Double](repeating: .infinity, count: recording.microphone.count / Self.block)
        var made: [Float] = []
        for _ in 0..<passes {
            let run = try aec3.run(far: recording.far, microphone: recording.microphone, rate: 48_000)
            made = run.output
            least = zip(least, run.nanoseconds).map { min($0, Double($1) / 1_000) }
        }
        self.init(made, delay: delay, least: least)
    }

    private init(_ made: [Float], delay: Int, least: [Double]) {
        delayFrames = delay
        output = [Float](made.dropFirst(delay))
        microseconds = [Double](least.dropFirst(Self.warmUp))
    }

    private static func pass(
        _ recording: EchoRecording, through chain: inout ProcessingChain, into made: inout [Float],
        least: inout [Double]
    ) {
        var stopwatch = CPUStopwatch()
        var samples = [Float](repeating: 0, count: block)
        for number in least.indices {
            let range = number * block..<(number + 1) * block
            samples.replaceSubrange(0..<block, with: recording.microphone[range])
            var span = samples.mutableSpan
            _ = stopwatch.lap()
            _ = chain.run(capture: &span, reference: recording.far.span.extracting(range))
            least[number] = min(least[number], Double(stopwatch.lap()) / 1_000)
            made.replaceSubrange(range, with: samples)
        }
    }

    /// How much of the echo is gone, in dB, where nobody talks.
    func enhancement(of recording: EchoRecording, in range: Range<Int>) -> Double {
        let range = range.clamped(to: output.indices)
        return EchoReturnLoss(
            echo: recording.echo.span.extracting(range), residual: output.span.extracting(range))?
            .enhancementDecibels ?? .nan
    }

    /// How much of the output is the near talker rather than anything else, in dB.
    func distortion(of recording: EchoRecording, in range: Range<Int>) -> Double {
        let range = range.clamped(to: output.indices)
        return ScaleInvariantDistortion.ratioDecibels(
            estimate: output.span.extracting(range), reference: recording.near.span.extracting(range),
            taps: ScaleInvariantDistortion.usualTaps) ?? .nan
    }
}
