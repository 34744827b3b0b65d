import SimulatedCalls
import TestCases
import Testing
import VoiceEngine
import VoiceSimulation

@Suite("The sender follows the network")
struct SenderAdaptationTests {
    /// What A sent and B made of it in a stretch of a call.
    private struct Stretch {
        var bytes = 0
        var packets = 0
        var concealed = 0.0
    }

    /// A call in which A talks all the time over a path of 20 ms each way.
    private func call(_ seconds: Double, seed: UInt64, _ change: (inout EngineConfiguration) -> Void = { _ in }) throws
        -> SimulatedCall
    {
        var configuration = Talk(a: [0.2...seconds], length: seconds, seed: seed).overCables
        configuration.network.baseDelay = .milliseconds(20)
        change(&configuration.engine)
        return try SimulatedCall(configuration)
    }

    private func setLoss(_ loss: PacketLoss, of call: SimulatedCall) throws {
        var conditions = NetworkConditions.lan
        conditions.baseDelay = .milliseconds(20)
        conditions.loss = loss
        try call.setNetwork(conditions, .a)
    }

    private func run(_ call: SimulatedCall, for duration: Duration) throws -> Stretch {
        let (sent, played) = (call.statistics(.a).uplink, try Scenario.stream(call, at: .b).playout)
        call.run(for: duration)
        let (sentNow, playedNow) = (call.statistics(.a).uplink, try Scenario.stream(call, at: .b).playout)
        return Stretch(
            bytes: sentNow.bytesSent - sent.bytesSent, packets: sentNow.packetsSent - sent.packetsSent,
            concealed: Double(playedNow.concealedSamples - played.concealedSamples)
                / Double(playedNow.pulledSamples - played.pulledSamples))
    }

    /// Without protection, and without following the reports.
    private static let fixedWithout: @Sendable (inout EngineConfiguration) -> Void = {
        $0.adaptation = .fixed
        $0.encoder.usesForwardErrorCorrection = false
    }

    @Test(
        "a clean path: FEC is off within 4 s, and fewer bytes go", .enabled(if: isOptimised), arguments: Scenario.few)
    func clean(seed: UInt64) throws {
        let adaptive = try call(9, seed: seed)
        adaptive.run(for: .seconds(4))
        let encoder = try #require(adaptive.statistics(.a).uplink.encoder)
        #expect(!encoder.usesForwardErrorCorrection && encoder.expectedLossPercent == 0)
        #expect(encoder.bitratePerSecond == 32_000 && encoder.frameDuration == .milliseconds20)
        let fixed = try call(9, seed: seed) { $0.adaptation = .fixed }
        fixed.run(for: .seconds(4))
        let (less, more) = (try run(adaptive, for: .seconds(5)), try run(fixed, for: .seconds(5)))
        #expect(less.packets == more.packets)
        // Measured: 1 to 5 % fewer
        #expect(less.bytes < more.bytes)
        #expect(fixed.statistics(.a).uplink.encoder?.usesForwardErrorCorrection == true)
    }

    @Test(
        "a tenth lost one by one: FEC is back within 5 s, and less is made up than without",
        .enabled(if: isOptimised), arguments: Scenario.few)
    func random(seed: UInt64) throws {
        let adaptive = try call(16, seed: seed)
        let without = try call(16, seed: seed, Self.fixedWithout)
        for call in [adaptive, without] {
            call.run(for: .seconds(4))
            try setLoss(.independent(0.1), of: call)
        }
        #expect(adaptive.statistics(.a).uplink.encoder?.usesForwardErrorCorrection == false)
        adaptive.run(for: .seconds(5))
        without.run(for: .seconds(5))
        let now = adaptive.statistics(.a).uplink
        #expect(now.encoder?.usesForwardErrorCorrection == true || now.copies > 0)
        let (restored, made) = (try run(adaptive, for: .seconds(7)), try run(without, for: .seconds(7)))
        #expect(made.concealed > 0.05)
        #expect(restored.concealed < 0.6 * made.concealed, "\(restored.concealed) against \(made.concealed)")
    }

    @Test(
        "bursts: copies come, less is made up than with FEC alone; when the bursts end, they go",
        .enabled(if: isOptimised), arguments: Scenario.few)
    func bursts(seed: UInt64) throws {
        let adaptive = try call(60, seed: seed)
        let without = try call(60, seed: seed) { $0.adaptation.maximumCopies = 0 }
        for call in [adaptive, without] {
            call.run(for: .seconds(2))
            try setLoss(.bursts(0.12, meanBurst: 3), of: call)
            call.run(for: .seconds(12))
        }
        let (restored, made) = (try run(adaptive, for: .seconds(12)), try run(without, for: .seconds(12)))
        #expect(adaptive.statistics(.a).uplink.copyBytesSent > 6_000)
        // Of twelve seeds the median is 0.45 times as much, the worst 0.81.
        #expect(restored.concealed < 0.9 * made.concealed, "\(restored.concealed) against \(made.concealed)")
        #expect(without.statistics(.a).uplink.copyBytesSent == 0)
        // And when nothing is lost any more, the sender is back where a clean path has it
        try setLoss(.none, of: adaptive)
        adaptive.run(for: .seconds(30))
        let now = adaptive.statistics(.a).uplink
        #expect(now.copies == 0 && now.encoder?.usesForwardErrorCorrection == false)
        #expect(now.encoder?.expectedLossPercent == 0 && now.encoder?.bitratePerSecond == 32_000)
    }

    @Test("reports know the round trip to within a millisecond, and what was lost", arguments: Scenario.few)
    func roundTrip(seed: UInt64) throws {
        var configuration = Talk(a: [0.2...8], b: [0.2...8], length: 8, seed: seed).overCables
        // A route whose two ends differ, and no jitter: 4 ways of 17 ms
        configuration.network = .perfect
        configuration.network.baseDelay = .milliseconds(17)
        let call = try SimulatedCall(configuration)
        call.run(for: .seconds(5))
        for side in SimulatedCall.Side.allCases {
            let statistics = call.statistics(side)
            let listener = try #require(statistics.remoteInbound.first)
            let roundTrip = try #require(listener.roundTripTime)
            #expect(abs(roundTrip.milliseconds - 4 * 17) < 1, "\(roundTrip)")
            #expect(listener.roundTripTimeMeasurements >= 2)
            let mean = listener.totalRoundTripTime / listener.roundTripTimeMeasurements
            #expect(abs(mean.milliseconds - 4 * 17) < 1)
            #expect(listener.fractionLost == 0 && listener.packetsLost == 0)
            #expect((3...9).contains(statistics.reports.sent) && statistics.reports.received >= 3)
            #expect(statistics.reports.malformed == 0)
            #expect(listener.synchronizationSource == call.statistics(side).streams.first?.synchronizationSource)
            // The path is of one length; what varies is a packet's wait for the card, 5 ms
            #expect(listener.jitter < .milliseconds(5))
            #expect(try #require(statistics.streams.first?.jitter) < .milliseconds(5))
        }
        // When every fifth packet is lost on A's links
        var lossy = configuration.network
        lossy.loss = .independent(0.2)
        try call.setNetwork(lossy, .a)
        call.run(for: .seconds(3))
        let listener = try #require(call.statistics(.a).remoteInbound.first)
        #expect(listener.fractionLost > 0.02 && listener.fractionLost < 0.5)
        #expect(listener.packetsLost > 8 && listener.packetsLost <= call.network(.a).up.lost)
    }

    @Test(
        "a narrow path: the sender takes less of it, and most gets through",
        .enabled(if: isOptimised))
    func narrow() throws {
        let adaptive = try call(25, seed: 3) {
            $0.encoder.bitratePerSecond = 64_000
        }
        adaptive.run(for: .seconds(4))
        // When the path has 48 kbit/s, headers included, for a sender of 64 and its headers
        var conditions = NetworkConditions.lan
        conditions.baseDelay = .milliseconds(20)
        conditions.rateLimit = .init(bitsPerSecond: 48_000, longestWait: .milliseconds(200))
        try adaptive.setNetwork(conditions, .a)
        adaptive.run(for: .seconds(3))
        let early = adaptive.network(.a).up
        adaptive.run(for: .seconds(3))
        let dropped = adaptive.network(.a).up.droppedByQueue - early.droppedByQueue
        #expect(dropped > 15)
        adaptive.run(for: .seconds(9))
        let encoder = try #require(adaptive.statistics(.a).uplink.encoder)
        #expect(encoder.bitratePerSecond < 40_000)
        #expect(encoder.frameDuration.frames > 960)
        #expect(adaptive.statistics(.a).uplink.copies == 0)
        let before = adaptive.network(.a).up
        adaptive.run(for: .seconds(3))
        let later = adaptive.network(.a).up
        #expect(later.droppedByQueue - before.droppedByQueue < dropped / 3)
    }

    @Test("an interruption drops what waits of its talker and what is under way, and what comes later is heard")
    func flush() throws {
        // Given a talker of whose speech some 90 ms wait, since packets take up to 300 ms longer than others
        let call = try call(6, seed: 4)
        var conditions = NetworkConditions.lan
        conditions.baseDelay = .milliseconds(20)
        conditions.jitter = .gaussian(mean: .milliseconds(90), deviation: .milliseconds(60))
        try call.setNetwork(conditions, .a)
        call.run(for: .seconds(3))
        let waiting = try #require(Scenario.stream(call, at: .b).jitterBufferDelay)
        #expect(waiting > .milliseconds(80), "\(waiting)")
        // When that talker is interrupted, and the room has told B so, which takes as long as a packet
        try call.interrupt(try #require(call.ownStream(.a)), by: .a)
        func told() -> Int {
            call.events(.b).count { if case .interrupted(_, _, generation: 1) = $0 { true } else { false } }
        }
        for _ in 0..<60 where told() == 0 { call.run(for: .milliseconds(10)) }
        #expect(told() == 1)
        // Then B hears nothing more of what was said before, for half a second or until the next talkspurt
        let at = call.elapsed / .seconds(1)
        call.run(for: .milliseconds(300))
        #expect(call.recording(.b).speaker[frameRange(at + 0.02...at + 0.25)].allSatisfy { abs($0) < 1e-3 })
        // And then goes on
        call.run(for: .seconds(1))
        let level = SignalLevel(of: Array(call.recording(.b).speaker[frameRange(at + 0.6...at + 1.2)]).span).rmsDecibels
        #expect((level ?? -96) > -45)
    }
}
