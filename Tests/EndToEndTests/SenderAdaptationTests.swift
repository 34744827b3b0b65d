import Testing
import VoiceEngine
import VoiceSimulation

@Suite("The sender and its network")
struct SenderAdaptationTests {
    private func call(_ length: Double, seed: UInt64, _ change: (inout EngineConfiguration) -> Void = { _ in }) throws
        -> SimulatedCall
    {
        var configuration = Talk(a: [0.2...length], length: length, seed: seed).overCables
        change(&configuration.engine)
        return try SimulatedCall(configuration)
    }

    @Test("explore", arguments: [PacketLoss.none, .independent(0.1), .bursts(0.1, meanBurst: 3), .independent(0.2)])
    func explore(loss: PacketLoss) throws {
        for (name, change) in [
            ("adaptive", { (_: inout EngineConfiguration) in }),
            ("nocopies", { $0.adaptation.mostCopies = 0 }),
            ("fixed on", { $0.adaptation = .fixed }),
            ("fixed off", { $0.adaptation = .fixed; $0.encoder.usesForwardErrorCorrection = false }),
        ] as [(String, (inout EngineConfiguration) -> Void)] {
            let call = try call(14, seed: 3, change)
            var conditions = NetworkConditions.lan
            conditions.baseDelay = .milliseconds(20)
            conditions.loss = loss
            try call.setNetwork(conditions, .a)
            call.run(for: .seconds(1))
            var last = call.statistics(.a).uplink
            var lastPlay = try Scenario.stream(call, at: .b).playout
            for second in 2...14 {
                call.run(for: .seconds(1))
                let now = call.statistics(.a).uplink
                let playout = try Scenario.stream(call, at: .b).playout
                print(name, second, "bytes", now.bytesSent - last.bytesSent, "fec", now.encoder?.usesForwardErrorCorrection ?? false, now.encoder?.expectedLossPercent ?? -1, "copies", now.copies, "rate", now.encoder?.bitratePerSecond ?? 0, "concealed", playout.concealedSamples - lastPlay.concealedSamples, "rtt", call.statistics(.a).remoteInbound.first?.roundTripTime ?? .zero, call.statistics(.a).remoteInbound.first?.fractionLost ?? -1, "target", try Scenario.stream(call, at: .b).targetDelay)
                last = now
                lastPlay = playout
            }
        }
    }
}
