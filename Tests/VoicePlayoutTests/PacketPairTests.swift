import Testing
import VoicePlayout

/// A sender that encodes what it reads in pieces of another length: ffmpeg, of 1024 samples each.
struct PacketPairTests {
    @Test(
        "Packets that come in pairs every 43 ms cost no sound, and next to none is heard twice",
        arguments: [42.667, 43.0])
    func pairs(period: Double) {
        // Given packets that wait for the piece that completes them, now two, now three at a time
        var trace = Trace(seconds: 30, network: .clean, seed: 1)
        for index in trace.packets.indices {
            trace.packets[index].milliseconds = 20 + period * (Double(index + 1) * 20 / period).rounded(.up)
        }
        var listening = Listening(context: "every \(period) ms")
        listening.play(trace, until: 29_900, keepsSound: false) { 240 }
        listening.expectAccounts()
        // Then nothing is dropped; a few milliseconds are bridged, and repeated, until the pace is known
        let statistics = listening.buffer.statistics
        #expect(statistics.skippedSamples == 0 && statistics.packetsDiscarded == 0)
        #expect(Double(statistics.repeatedSamples) / 48 <= 20)
        #expect(Double(statistics.concealedSamples) / 48 <= 60)
        let late = listening.reports.filter { $0.milliseconds > 3000 && $0.report.concealedFrames > 0 }
        #expect(late.isEmpty, "\(late.count) blocks")
    }
}
