import SimulatedCalls
import VoiceEngine
import VoiceSimulation

/// A long call between A, whose clocks are true, and B, whose microphone and loudspeaker have a clock each, far off
/// either way; looked at ten seconds at a time, so that an hour fits into memory. Periods of 2.5 ms.
final class TwoClocks {
    /// The steepest that audio devices are off: USB Audio's full-speed tolerance is 500 ppm, what is on sale stays
    /// within 300.
    static let ppm = 300.0
    private static let slice = Duration.seconds(10)

    let call: SimulatedCall
    private(set) var elapsed = Duration.zero

    /// - Parameters:
    ///   - capturePPM: how much faster than nominal B's microphone runs; its loudspeaker is as much slower.
    ///   - talker: who speaks at A.
    ///   - listener: who speaks at B.
    init(
        capturePPM: Double, talker: SpeechSource, listener: SpeechSource = SpeechSource([], repetition: .once),
        rooms: [RoomConditions], engine: EngineConfiguration, length: Duration, seed: UInt64
    ) throws {
        var configuration = SimulatedCall.Configuration(talkers: [talker, listener])
        configuration.seed = seed
        configuration.rooms = rooms
        configuration.engine = engine
        configuration.engine.codeQuickly()
        configuration.periodFrames = 120
        configuration.driftPPM = [0, capturePPM]
        configuration.playbackDriftPPM = [0, -capturePPM]
        configuration.longest = length
        configuration.recorded = Self.slice
        call = try SimulatedCall(configuration)
    }

    /// Lets time pass until `end`, and hands each ten seconds to `look` where that is wanted.
    func run(until end: Duration, _ look: (_ a: AirRecording, _ b: AirRecording) throws -> Void = { _, _ in }) rethrows
    {
        while elapsed < end {
            call.run(for: Self.slice)
            elapsed += Self.slice
            try look(call.takeRecording(.a), call.takeRecording(.b))
        }
    }

    /// What B's jitter buffer did to A's sound so far: frames made up, put in, left out, skipped.
    var counts: [UInt64] {
        guard let playout = call.statistics(.b).streams.first?.playout else { return [] }
        return [
            playout.concealedSamples, playout.insertedSamplesForDeceleration, playout.removedSamplesForAcceleration,
            playout.skippedSamples,
        ]
    }

    /// What ran over or dry so far at either side, in frames and times.
    var deviceFaults: Int {
        SimulatedCall.Side.allCases.reduce(0) { sum, side in
            let (device, uplink) = (call.statistics(side).device, call.statistics(side).uplink)
            return sum + device.playback.underrunFrames + device.playback.overflowFrames + device.playback.xruns
                + device.capture.overflowFrames + device.capture.xruns + uplink.captureGapFrames
        }
    }

    /// The way from A's mouth to B's ear each tenth of a second until `end`, in milliseconds, sorted.
    func delays(until end: Duration) -> [Double] {
        var delays: [Double] = []
        while elapsed < end {
            call.run(for: .milliseconds(100))
            elapsed += .milliseconds(100)
            if let total = LatencyBudget(from: call.statistics(.a), to: call.statistics(.b)).total {
                delays.append(total.milliseconds)
            }
        }
        _ = (call.takeRecording(.a), call.takeRecording(.b))
        return delays.sorted()
    }
}

extension [Double] {
    /// What 95 % of these sorted values do not exceed.
    var percentile95: Double? { isEmpty ? nil : self[(count - 1) * 95 / 100] }
}
