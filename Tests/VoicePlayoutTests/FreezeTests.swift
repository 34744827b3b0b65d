import TestCases
import Testing
import VoicePlayout

/// The network holds every packet for a while, and then delivers all at once.
@Suite("A freeze")
struct FreezeTests {
    /// Ten seconds, of which those packets come late that were sent from the third second on, for `length` ms.
    private func frozen(_ length: Double) -> Trace {
        var trace = Trace(seconds: 14, network: .clean, seed: 1)
        for index in trace.packets.indices where trace.packets[index].milliseconds >= 3000 {
            trace.packets[index].milliseconds = max(trace.packets[index].milliseconds, 3000 + length)
        }
        return trace
    }

    @Test(
        "All that came and was not played is told as skipped", arguments: cases([100.0, 300, 1000, 3000]),
        cases([PlayoutConfiguration.conversation, .lowDelay, .robust]))
    func accounts(length: Double, configuration: PlayoutConfiguration) {
        let trace = frozen(length)
        var listening = Listening(configuration, context: "\(length) ms")
        listening.play(trace, until: 14_000, keepsSound: false)
        listening.expectAccounts()
        // Given that no packet was lost, each frame of sound was played or skipped; the last packets may still wait
        let statistics = listening.buffer.statistics
        let told = Int(statistics.decodedSamples + statistics.skippedSamples)
        #expect(statistics.packetsLost == 0)
        #expect(abs(trace.packets.count * 960 - told - listening.buffer.waitingPackets * 960) <= 960, "\(length) ms")
    }

    @Test("Robust playout drops nothing of it, and has caught up with nearly all within ten seconds")
    func robust() {
        var listening = Listening(.robust)
        listening.play(frozen(3000), until: 13_900, keepsSound: false)
        let statistics = listening.buffer.statistics
        #expect(statistics.skippedSamples == 0 && statistics.packetsDiscarded == 0)
        #expect((listening.reports.last?.report.bufferedFrames ?? .max) < 48 * 500)
    }

    @Test("A conversation hears the last second of it, and has caught up within four")
    func conversation() {
        // Given a freeze of three seconds
        var listening = Listening()
        listening.play(frozen(3000), until: 10_000, keepsSound: false)
        // Then less than two and a half are missing, and little waits
        let skipped = Double(listening.buffer.statistics.skippedSamples) / 48
        #expect(skipped > 1000 && skipped < 2100, "\(skipped) ms")
        #expect((listening.reports.last?.report.bufferedFrames ?? .max) < 48 * 80)
        // And of a freeze of less than a second nothing is
        var shorter = Listening()
        shorter.play(frozen(900), until: 10_000, keepsSound: false)
        #expect(shorter.buffer.statistics.skippedSamples == 0)
    }

    @Test("A pause that ends late is no freeze: the delay stays what it was")
    func pause() {
        // Given a sender that pauses for two seconds, whose first packets then come 60 ms late
        var trace = Trace(seconds: 8, network: .clean, seed: 1, pauses: [(from: 3000, length: 2000)])
        for index in trace.packets.indices where trace.packets[index].milliseconds > 4900 {
            trace.packets[index].milliseconds = max(trace.packets[index].milliseconds, 5080)
        }
        var listening = Listening()
        listening.play(trace, until: 5500, keepsSound: false)
        #expect((listening.reports.last?.report.bufferedFrames ?? .max) < 48 * 80)
    }
}
