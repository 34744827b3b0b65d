import VoiceEngine
import VoiceSimulation

/// What a backend made of a recording.
struct EchoRun {
    private static let settings = ProcessingSettings(echo: .low, highPass: true)
    /// Blocks that do not count for CPU: caches and tables warm up.
    private static let warmUp = 100
    private static let block = 480

    /// The output, moved to where the microphone's frames were; shorter by the backend's delay.
    let output: [Float]
    let delayFrames: Int
    /// CPU time of each block after the first ones.
    let microseconds: [Double]

    init(_ recording: EchoRecording, through backend: ProcessingBackend) throws {
        var chain = try ProcessingChain(sampleRate: 48_000, settings: Self.settings, backend: backend)
        var made = recording.microphone
        var costs: [Double] = []
        var stopwatch = CPUStopwatch()
        var block = [Float](repeating: 0, count: Self.block)
        for (number, start) in stride(from: 0, to: made.count, by: block.count).enumerated() {
            for index in 0..<block.count { block[index] = recording.microphone[start + index] }
            let far = recording.far.span.extracting(start..<start + block.count)
            var span = block.mutableSpan
            _ = stopwatch.lap()
            _ = chain.run(capture: &span, reference: far)
            let cost = Double(stopwatch.lap()) / 1_000
            if number >= Self.warmUp { costs.append(cost) }
            for index in 0..<block.count { made[start + index] = block[index] }
        }
        delayFrames = chain.processor.processingDelay
        made.removeFirst(delayFrames)
        output = made
        microseconds = costs
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
