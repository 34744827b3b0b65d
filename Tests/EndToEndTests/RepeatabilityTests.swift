import SimulatedCalls
import TestCases
import Testing
import VoiceEngine
import VoiceSimulation

@Suite("Simulated calls")
struct RepeatabilityTests {
    private static let length = isOptimised ? 4.0 : 2

    /// Some seconds of two talkers over loudspeakers and a bad Wi-Fi: every source of chance is in it.
    private func recordings(seed: UInt64) throws -> [AirRecording] {
        let talk = Talk(a: [0.3...0.75 * Self.length], b: [1...Self.length], length: Self.length, seed: seed)
        var configuration = talk.overLoudspeakers
        configuration.network = .wifiLossy
        configuration.driftPPM = [80, -120]
        let call = try SimulatedCall(configuration)
        call.run(for: .seconds(talk.length))
        return SimulatedCall.Side.allCases.map { call.recording($0) }
    }

    @Test("the same seed gives the same bits, another seed others")
    func bits() throws {
        let (first, again, other) = (try recordings(seed: 7), try recordings(seed: 7), try recordings(seed: 8))
        for side in 0..<2 {
            #expect(first[side].frames > Int(Self.length * 47_500))
            #expect(Self.firstDifference(first[side].speaker, again[side].speaker) == nil)
            #expect(Self.firstDifference(first[side].microphone, again[side].microphone) == nil)
            #expect(Self.firstDifference(first[side].speaker, other[side].speaker) != nil)
            #expect(first[side].speaker.contains { $0 != 0 })
        }
    }

    /// The first frame at which two recordings differ; an expectation on the recordings themselves would print them
    /// whole.
    private static func firstDifference(_ one: [Float], _ other: [Float]) -> Int? {
        guard one.count == other.count else { return min(one.count, other.count) }
        return one.indices.first { one[$0].bitPattern != other[$0].bitPattern }
    }

    @Test("a long call of two talkers, to its end", .enabled(if: isOptimised))
    func longCall() throws {
        let seconds = 30.0
        let talk = Talk(a: [0.5...seconds], b: [0.5...seconds], length: seconds, seed: 9)
        let call = try SimulatedCall(talk.overLoudspeakers)
        call.run(for: .seconds(seconds))
        #expect(call.elapsed == .seconds(seconds))
        for side in SimulatedCall.Side.allCases {
            let statistics = call.statistics(side)
            #expect(call.recording(side).frames == Int(seconds * 48_000))
            // One packet each 20 ms, less those before the join
            #expect(abs(statistics.uplink.packetsSent - Int(seconds * 50)) < 10)
            #expect(statistics.device.playback.underrunFrames == 0)
            #expect(statistics.uplink.failedBlocks == 0)
            let playout = try Scenario.stream(call, at: side).playout
            #expect(playout.concealedSamples == 0)
            #expect(playout.packetsLost == 0)
        }
    }
}
