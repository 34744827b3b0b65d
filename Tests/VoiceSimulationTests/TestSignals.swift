import Glibc
import VoiceSimulation

/// Gaussian noise of RMS 0.25.
func whiteNoise(_ frames: Int, seed: UInt64) -> [Float] {
    var generator = SeededGenerator(seed: seed, stream: "test signal")
    return (0..<frames).map { _ in Float(generator.gaussian() * 0.25) }
}

/// A sine with amplitude 1.
func sine(hertz: Double, frames: Int) -> [Float] {
    (0..<frames).map { Float(sin(2 * Double.pi * hertz * Double($0) / 48_000)) }
}

/// `signal` later by `frames`, at the same length.
func delayed(_ signal: [Float], by frames: Int) -> [Float] {
    signal.indices.map { signal.indices.contains($0 - frames) ? signal[$0 - frames] : 0 }
}

/// Whether two signals have the same bits; as a call, so that a failure does not print them.
func isSame(_ one: [Float], _ other: [Float]) -> Bool {
    one.map(\.bitPattern) == other.map(\.bitPattern)
}

func gain(_ decibels: Double) -> Float {
    Float(pow(10, decibels / 20))
}

/// Carries a whole signal through a room in blocks of the given lengths, over and over.
func render(
    _ room: inout RoomAcoustics, speaker: [Float], near: [Float]? = nil, blocks: [Int] = [480]
) -> (microphone: [Float], echo: [Float]) {
    let near = near ?? [Float](repeating: 0, count: speaker.count)
    var output: (microphone: [Float], echo: [Float]) = ([], [])
    for range in cut(speaker.count, into: blocks) {
        var microphone = [Float](repeating: .nan, count: range.count)
        var echo = microphone
        var microphoneSpan = microphone.mutableSpan
        var echoSpan = echo.mutableSpan
        room.process(
            speaker: speaker.span.extracting(range), near: near.span.extracting(range), into: &microphoneSpan,
            echo: &echoSpan)
        output.microphone += microphone
        output.echo += echo
    }
    return output
}

/// The ranges of blocks of the given lengths, over and over, that make up `count` frames.
func cut(_ count: Int, into blocks: [Int]) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    while (ranges.last?.upperBound ?? 0) < count {
        let start = ranges.last?.upperBound ?? 0
        ranges.append(start..<min(start + blocks[ranges.count % blocks.count], count))
    }
    return ranges
}

// The measures over arrays: the testing macros cannot hold spans.

func align(
    _ later: [Float], after earlier: [Float], longest: Int, weighting: SignalAlignment.Weighting = .none
) -> SignalAlignment? {
    SignalAlignment(of: later.span, after: earlier.span, longestDelayFrames: longest, weighting: weighting)
}

func enhancement(echo: [Float], residual: [Float]) -> EchoReturnLoss? {
    EchoReturnLoss(echo: echo.span, residual: residual.span)
}

func distortion(_ estimate: [Float], of reference: [Float], delay: Int = 0, taps: Int = 1) -> Double? {
    ScaleInvariantDistortion.ratioDecibels(
        estimate: estimate.span, reference: reference.span, delayFrames: delay, taps: taps)
}

func rms(_ signal: [Float]) -> Double? {
    SignalLevel(of: signal.span).rmsDecibels
}
