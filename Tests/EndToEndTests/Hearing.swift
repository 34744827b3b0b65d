import SimulatedCalls
import VoiceEngine
import VoiceSimulation

/// What one side's listener hears of what the other side's talker says.
struct Hearing {
    /// The talker's room.
    let talker: AirRecording
    /// The listener's room.
    let listener: AirRecording
    /// How many frames later it is heard than said.
    let delayFrames: Int

    /// The longest way that is searched for, in frames.
    private static let longestDelayFrames = 24_000
    /// A 20 ms frame.
    private static let frame = 960
    /// Speech below this, in dBFS, is a pause.
    private static let pause = -50.0

    /// Finds the way from `talker` to the other side while only it speaks, in `seconds`; nil where what is heard does
    /// not tell.
    init?(_ call: SimulatedCall, from talker: SimulatedCall.Side, while seconds: ClosedRange<Double>) {
        let (said, heard) = (call.recording(talker), call.recording(talker.other))
        let range = frameRange(seconds)
        let end = min(range.upperBound + Self.longestDelayFrames, heard.frames)
        guard range.upperBound <= said.frames, range.lowerBound < end else { return nil }
        let found = SignalAlignment(
            of: heard.speaker.span.extracting(range.lowerBound..<end), after: said.near.span.extracting(range),
            longestDelayFrames: Self.longestDelayFrames, weighting: .phaseTransform)
        // The codec and the processing turn phases, so only the peak itself tells, not the correlation.
        guard let found, found.peakRatio >= SignalAlignment.trustedPeakRatio, found.delayFrames > 0 else { return nil }
        self.init(said, heard, delayFrames: found.delayFrames)
    }

    /// The same two sides where the way is known.
    init(_ talker: AirRecording, _ listener: AirRecording, delayFrames: Int) {
        (self.talker, self.listener, self.delayFrames) = (talker, listener, delayFrames)
    }

    /// From the mouth to the ear, in milliseconds.
    var delayMilliseconds: Double { Double(delayFrames) / 48 }

    /// What the listener hears of what happens at the talker in `seconds`.
    func heard(_ seconds: ClosedRange<Double>) -> [Float] {
        let range = frameRange(seconds)
        return Array(listener.speaker[range.lowerBound + delayFrames..<range.upperBound + delayFrames])
    }

    /// How much of the echo in the talker's microphone the listener is spared, in dB; gain and noise of the way count
    /// against it.
    func echoRemoved(_ seconds: ClosedRange<Double>) -> Double? {
        EchoReturnLoss(echo: talker.echo.span.extracting(frameRange(seconds)), residual: heard(seconds).span)?
            .enhancementDecibels
    }

    /// How much louder the talker is heard than it speaks, in dB, by active level.
    func levelGain(_ seconds: ClosedRange<Double>) -> Double? {
        let said = SignalLevel(of: talker.near.span.extracting(frameRange(seconds))).activeDecibels
        let heard = SignalLevel(of: heard(seconds).span).activeDecibels
        guard let said, let heard else { return nil }
        return heard - said
    }

    /// Signal to distortion of what is heard, in dB, a gain and a short filter forgiven.
    func distortionRatio(_ seconds: ClosedRange<Double>, taps: Int = ScaleInvariantDistortion.usualTaps) -> Double? {
        ScaleInvariantDistortion.ratioDecibels(
            estimate: heard(seconds).span, reference: talker.near.span.extracting(frameRange(seconds)), taps: taps)
    }

    /// For each 20 ms of the talker's speech in `seconds`, how much louder it is heard than said, in dB.
    func gains(_ seconds: ClosedRange<Double>) -> [Double] {
        stride(from: frameRange(seconds).lowerBound, to: frameRange(seconds).upperBound - Self.frame, by: Self.frame)
            .compactMap { start in
                let heardStart = start + delayFrames
                guard heardStart + Self.frame <= listener.frames else { return nil }
                let said = SignalLevel(of: talker.near.span.extracting(start..<start + Self.frame)).rmsDecibels
                let heard = SignalLevel(of: listener.speaker.span.extracting(heardStart..<heardStart + Self.frame))
                guard let said, said > Self.pause else { return nil }
                return (heard.rmsDecibels ?? EchoReturnLoss.residualFloor) - said
            }
    }

    /// The share of the talker's 20 ms frames of speech in `seconds` that are heard no more than `decibels` below the
    /// usual gain in `usual`.
    func kept(_ seconds: ClosedRange<Double>, within decibels: Double, ofUsual usual: ClosedRange<Double>) -> Double? {
        let (usual, gains) = (gains(usual).sorted(), gains(seconds))
        guard !usual.isEmpty, !gains.isEmpty else { return nil }
        let median = usual[usual.count / 2]
        return Double(gains.filter { $0 > median - decibels }.count) / Double(gains.count)
    }
}
