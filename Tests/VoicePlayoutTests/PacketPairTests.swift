import TestCases
import Testing
import VoicePlayout

/// A sender that encodes what it reads in pieces of another length: ffmpeg, of 1024 samples each.
struct PacketPairTests {
    @Test(
        "Packets that come in pairs every 43 ms cost no sound, and next to none is heard twice",
        arguments: [42.667, 43.0])
    func pairs(period: Double) {
        // Given packets that wait for the piece that completes them, now two, now three at a time
        let statistics = played(seconds: 30, period: period, phase: 0, pull: 240)
        // Then nothing is dropped; a few milliseconds are bridged until the pace is known
        #expect(statistics.skippedSamples == 0 && statistics.packetsDiscarded == 0)
        #expect(statistics.repeatedSamples == 0)
        #expect(Double(statistics.concealedSamples) / 48 <= 20)
    }

    @Test(
        "Wherever in its beat such a sender begins, playout neither stretches nor cuts to and fro",
        arguments: [42.667, 43.0, 64.0], cases([0.5, 0.0, 0.167, 0.333, 0.667, 0.833]))
    func phases(period: Double, phase: Double) {
        for pull in [240, 480] {
            let statistics = played(seconds: 13, period: period, phase: phase, pull: pull)
            #expect(Double(statistics.insertedSamplesForDeceleration) / 48 <= 10, "pulls of \(pull)")
            #expect(Double(statistics.removedSamplesForAcceleration) / 48 <= 15, "pulls of \(pull)")
            let wait = statistics.jitterBufferDelay / Double(statistics.jitterBufferEmittedCount) * 1000
            #expect(wait <= period / 2 + 10, "pulls of \(pull)")
        }
    }

    /// Plays a sender whose pieces are complete every `period` ms, the first of them that share of it after the sender
    /// began.
    private func played(seconds: Double, period: Double, phase: Double, pull: Int) -> PlayoutStatistics {
        var trace = Trace(seconds: seconds, network: .clean, seed: 1)
        for index in trace.packets.indices {
            let ready = Double(index + 1) * 20 / period + phase
            trace.packets[index].milliseconds = 20 + period * ready.rounded(.up)
        }
        var listening = Listening(context: "every \(period) ms from \(phase), pulls of \(pull)")
        listening.play(trace, until: seconds * 1000 - 100, keepsSound: false) { pull }
        listening.expectAccounts()
        let late = listening.reports.filter { $0.milliseconds > 3000 && $0.report.concealedFrames > 0 }
        #expect(late.isEmpty, "\(late.count) blocks")
        return listening.buffer.statistics
    }
}
