import SimulatedCalls
import VoiceEngine
import VoiceSimulation

/// What the demo measured. A value that could not be measured is nil.
struct DemoReport: JSONLine {
    /// A way from one mouth to the other ear, in milliseconds.
    struct MouthToEar: Encodable {
        /// By correlating what was said with what was heard.
        var measured: Double?
        /// The codec's frame, the device's period, rings and scheduling, as the engine measured them.
        var microphoneToNetwork: Double?
        /// What echo, noise and gain processing adds.
        var processing: Double
        /// What the encoder looks ahead.
        var codecLookahead: Double
        /// Up to the room and down again.
        var network: Double?
        /// In the jitter buffer.
        var jitterBuffer: Double?
        /// Playout ring and loudspeaker device.
        var pullToSpeaker: Double?

        /// All stages together.
        var sum: Double? {
            guard let microphoneToNetwork, let network, let jitterBuffer, let pullToSpeaker else { return nil }
            return microphoneToNetwork + processing + codecLookahead + network + jitterBuffer + pullToSpeaker
        }
    }

    let schema = "duplexvoice.demo/1"
    let type = "summary"
    var seconds: Double
    var speech: String
    var erleDb: Double?
    var voiceKeptRatio: Double?
    var mouthToEarMs: Double?
    var stages: MouthToEar
    var packetsSent: Int
    var packetsLost: Int
    var concealedRatio: Double?
    var xruns: Int
    var underrunFrames: Int
    var allocationsPerTick: Double?
    var mediaCpuRatio: Double
    var referenceDelayFrames: Int
    var referenceConfidence: Double
    var files: [String]
}

/// One side of the demo after the call.
struct DemoSide {
    var recording: AirRecording
    var statistics: EngineStatistics
    /// When frame 0 of the recording was in the air, in nanoseconds of the monotonic clock.
    var start: Int64
}

/// Judges what side A's microphone sent by what side B heard.
struct DemoJudge {
    let script: DemoScript
    let a: DemoSide
    let b: DemoSide
    /// Frames by which B's recording lags A's for the same sound: the way and the two recordings' beginnings.
    let alignment: SignalAlignment?

    /// The longest mouth-to-ear delay that is searched for.
    private static let longestDelayFrames = 48_000
    /// A 20 ms frame.
    private static let frame = 960
    /// Speech below this, in dBFS, is a pause.
    private static let pause = -50.0
    /// A frame that arrives this much weaker than usual, in dB, is lost to the listener.
    private static let lost = 10.0

    init(script: DemoScript, a: DemoSide, b: DemoSide) {
        self.script = script
        self.a = a
        self.b = b
        let found = SignalAlignment(
            of: b.recording.speaker.span, after: a.recording.near.span, longestDelayFrames: Self.longestDelayFrames,
            weighting: .phaseTransform)
        alignment = found?.isTrusted == true ? found : nil
    }

    /// From A's mouth to B's ear.
    var mouthToEarMilliseconds: Double? {
        alignment.map { Double($0.delayFrames) / 48 + Double(b.start - a.start) / 1e6 }
    }

    /// How much of the echo in A's microphone is gone at B while only B speaks, in dB. What is left of A's room's noise
    /// counts against it.
    var echoReturnLossEnhancement: Double? {
        guard let shift = alignment?.delayFrames else { return nil }
        let range = DemoScript.inner(script.onlyB)
        guard range.upperBound + max(shift, 0) <= b.recording.frames, range.upperBound <= a.recording.frames else {
            return nil
        }
        let heard = Array(b.recording.speaker[range.lowerBound + shift..<range.upperBound + shift])
        return EchoReturnLoss(echo: a.recording.echo.span.extracting(range), residual: heard.span)?.enhancementDecibels
    }

    /// The share of A's 20 ms frames of speech that still arrive at B while both speak: no more than 10 dB below what A
    /// alone gets through.
    var voiceKept: Double? {
        let alone = gains(in: DemoScript.inner(script.onlyA)).sorted()
        let together = gains(in: DemoScript.inner(script.both))
        guard !alone.isEmpty, !together.isEmpty else { return nil }
        let usual = alone[alone.count / 2]
        return Double(together.filter { $0 > usual - Self.lost }.count) / Double(together.count)
    }

    /// For each 20 ms frame of A's speech in `range`, how much louder B hears it than A said it, in dB.
    private func gains(in range: Range<Int>) -> [Double] {
        guard let shift = alignment?.delayFrames else { return [] }
        return stride(from: range.lowerBound, to: range.upperBound - Self.frame, by: Self.frame).compactMap { start in
            guard start + shift >= 0, start + shift + Self.frame <= b.recording.frames else { return nil }
            let said = SignalLevel(of: a.recording.near.span.extracting(start..<start + Self.frame)).rmsDecibels
            let heard = SignalLevel(of: b.recording.speaker.span.extracting(start + shift..<start + shift + Self.frame))
            guard let said, said > Self.pause else { return nil }
            return (heard.rmsDecibels ?? -96) - said
        }
    }

    /// The way from A's mouth to B's ear by stage.
    var stages: DemoReport.MouthToEar {
        let up = a.statistics.latency
        let played = b.statistics.streams.first?.playout
        return DemoReport.MouthToEar(
            measured: mouthToEarMilliseconds, microphoneToNetwork: up.microphoneToNetwork?.milliseconds,
            processing: up.processing.milliseconds, codecLookahead: up.codecLookahead.milliseconds,
            network: up.halfRoundTrip.flatMap { up in
                b.statistics.latency.halfRoundTrip.map { (up + $0).milliseconds }
            },
            jitterBuffer: played.flatMap { played in
                played.jitterBufferEmittedCount == 0
                    ? nil : played.jitterBufferDelay / Double(played.jitterBufferEmittedCount) * 1_000
            },
            pullToSpeaker: b.statistics.latency.pullToSpeaker?.milliseconds)
    }
}

extension Duration {
    /// This duration in milliseconds.
    var milliseconds: Double {
        let parts = components
        return Double(parts.seconds) * 1_000 + Double(parts.attoseconds) * 1e-15
    }
}
