import Testing
import VoicePlayout
import VoiceWire

/// Timestamps that leap: of a sender that has reason to, and of one packet that is wrong.
@Suite("Leaps of the timestamps")
struct TimestampLeapTests {
    private func trace(leap milliseconds: Int, packets: Range<Int>) -> Trace {
        var trace = Trace(seconds: 8, network: .clean, seed: 1)
        for index in packets {
            trace.packets[index].header.timestamp &+= UInt32(bitPattern: Int32(milliseconds * 48))
        }
        return trace
    }

    @Test(
        "One packet that leaps is not believed: no delay, no gap, nothing skipped",
        arguments: [-3_600_000, -1500, -950, -300, -100, 15, 100, 300, 950, 1500, 3_600_000])
    func oneOdd(milliseconds: Int) {
        // Given a clean stream, one packet of which says that it belongs elsewhere
        let trace = trace(leap: milliseconds, packets: 150..<151)
        var listening = Listening(context: "\(milliseconds) ms")
        listening.play(trace, until: 7900, keepsSound: false, timestampsMayJump: true)
        listening.expectAccounts()
        // Then every packet is played, and as soon as before
        let statistics = listening.buffer.statistics
        #expect(statistics.packetsDiscarded == 0 && statistics.skippedSamples == 0)
        #expect(Double(statistics.concealedSamples + statistics.pauseSamples) / 48 < 60, "with the beginning")
        let delay = statistics.jitterBufferDelay / Double(statistics.jitterBufferEmittedCount)
        #expect(delay < 0.025, "\(delay * 1000) ms")
        #expect((listening.reports.last?.report.bufferedFrames ?? .max) < 48 * 40)
    }

    @Test("Packets that agree are believed", arguments: [(-1500, 1), (3_600_000, 1), (300, 0)])
    func many(milliseconds: Int, restarts: UInt64) {
        // Given a sender whose clock leaps, and stays there
        let trace = trace(leap: milliseconds, packets: 150..<400)
        var listening = Listening(context: "\(milliseconds) ms")
        listening.play(trace, until: 7900, keepsSound: false, timestampsMayJump: true)
        listening.expectAccounts()
        // Then it is spliced on, once; what a sender may do that runs ahead is a pause
        #expect(listening.buffer.statistics.streamRestarts == restarts)
        #expect(listening.decoder.resets == Int(restarts))
    }

    @Test(
        "Timestamps that leap at every packet have nothing wait that no later packet reaches",
        arguments: [0x7fff_ffff, 0x7fff_ff00, 0x8000_0001, 0x5555_5555, 0x4000_0000] as [UInt32])
    func everyPacket(step: UInt32) {
        // Given a sender whose timestamps go round the clock, or half of it, from packet to packet
        var trace = Trace(seconds: 8, network: .clean, seed: 1)
        for index in trace.packets.indices {
            trace.packets[index].header.timestamp = step &* UInt32(truncatingIfNeeded: index)
        }
        var listening = Listening(context: "\(step)")
        listening.play(trace, until: 8000, keepsSound: false, timestampsMayJump: true)
        // Then what has come is played soon after the last of it
        #expect(listening.buffer.waitingPackets == 0)
        #expect(listening.buffer.statistics.jitterBufferEmittedCount > 0)
    }

    @Test("Timestamps that rise fifty times too fast delay what comes by no more than a sender may run ahead")
    func tooFast() {
        // Given packets of 20 ms that are a second apart by their timestamps
        var trace = Trace(seconds: 8, network: .clean, seed: 1)
        for index in trace.packets.indices { trace.packets[index].header.timestamp = UInt32(48_000 * index) }
        var listening = Listening(context: "too fast")
        // When the last of them has come, and as much time has passed as a sender may run ahead
        listening.play(trace, until: 8_000 + 61_000, keepsSound: false, timestampsMayJump: true)
        // Then nothing waits any more
        #expect(listening.buffer.waitingPackets == 0)
    }
}
