import SimulatedCalls
import TestCases
import Testing
import VoiceEngine
import VoiceSimulation

@Suite("Breaks and leaving")
struct BreakTests {
    private static func isLost(_ event: EngineEvent) -> Bool { if case .connectionLost = event { true } else { false } }
    private static func isBack(_ event: EngineEvent) -> Bool { if case .reconnected = event { true } else { false } }

    private static func ending(_ events: [EngineEvent]) -> RoomSessionEnd? {
        events.compactMap { if case .left(.session(let end)) = $0 { end } else { nil } }.last
    }

    private static func departure(_ events: [EngineEvent]) -> LeaveReason? {
        events.compactMap { if case .participantLeft(_, let reason) = $0 { reason } else { nil } }.last
    }

    @Test("a network that is gone for 10 s: the call goes on, as the same stream")
    func shortBreak() throws {
        // Given a call in which A talks
        let call = try SimulatedCall(Talk(a: [0.5...17], length: 17, seed: 4).overCables)
        call.run(for: .seconds(2))
        let source = try Scenario.stream(call, at: .b).synchronizationSource
        // When A's network is gone for 10 s
        call.setConnected(false, .a)
        call.run(for: .seconds(10))
        // Then A knows, and B hears silence, not noise
        #expect(call.events(.a).count(Self.isLost) == 1)
        #expect(call.events(.a).count(Self.isBack) == 0)
        #expect(call.recording(.b).speaker[frameRange(3...11.9)].allSatisfy { abs($0) < 1e-3 })
        // And when it is there again, A is back, as the participant it was
        call.setConnected(true, .a)
        call.run(for: .seconds(5))
        #expect(call.events(.a).count(Self.isBack) == 1)
        #expect(Self.ending(call.events(.a)) == nil)
        #expect(Self.departure(call.events(.b)) == nil)
        #expect(try Scenario.stream(call, at: .b).synchronizationSource == source)
        // And is heard
        let heard = try #require(
            SignalLevel(of: call.recording(.b).speaker.span.extracting(frameRange(15...17))).activeDecibels)
        #expect(heard > Talk.levelDecibels - 3)
    }

    @Test(
        "a peer that is gone is told within 2 s where it talked, and within four where it was muted",
        arguments: cases([false, true]))
    func unreachable(isMuted: Bool) throws {
        func news(_ events: [EngineEvent]) -> [String] {
            events.compactMap {
                switch $0 {
                case .participantUnreachable: "gone"
                case .participantReachable: "there"
                case .streamStalled, .linkQualityChanged: "\($0)"
                default: nil
                }
            }
        }
        // Given a call in which A talks, or is muted
        let call = try SimulatedCall(Talk(a: [0.5...12], length: 12, seed: 4).overCables)
        call.run(for: .seconds(1))
        try call.setMuted(isMuted, .a)
        call.run(for: .seconds(2.5))
        #expect(news(call.events(.b)) == [])
        // When A's machine is gone
        call.setConnected(false, .a)
        call.run(for: .seconds(1.9))
        #expect(news(call.events(.b)) == [])
        call.run(for: .seconds(isMuted ? 2.1 : 0.3))
        #expect(news(call.events(.b)) == ["gone"])
        // And then back
        call.setConnected(true, .a)
        call.run(for: .seconds(3))
        #expect(news(call.events(.b)) == ["gone", "there"])
    }

    @Test("a network that is gone for more than 30 s: both sides know that it is over", .enabled(if: isOptimised))
    func longBreak() throws {
        let call = try SimulatedCall(Talk(a: [0.5...45], length: 45, seed: 4).overCables)
        call.run(for: .seconds(2))
        // When A's network is gone for good
        call.setConnected(false, .a)
        call.run(for: .seconds(40))
        // Then A gives up, and B is told that A's time is over
        #expect(call.events(.a).count(Self.isLost) == 1)
        #expect(Self.ending(call.events(.a)) == .connectionLost)
        #expect(Self.departure(call.events(.b)) == .timedOut)
        #expect(call.statistics(.b).streams.isEmpty)
        #expect(call.statistics(.a).streams.isEmpty)
        // And nothing more is sent
        let sent = call.statistics(.a).uplink.packetsSent
        call.run(for: .seconds(1))
        #expect(call.statistics(.a).uplink.packetsSent == sent)
    }

    @Test("a room server that is started anew: both sides come back as new participants and hear each other")
    func restartedServer() throws {
        let call = try SimulatedCall(Talk(a: [0.5...8], b: [0.5...8], length: 8, seed: 4).overCables)
        call.run(for: .seconds(2))
        try call.setMuted(true, .b)
        let before = try Scenario.stream(call, at: .b).synchronizationSource
        // When the server is replaced by one that knows nobody
        let known = SimulatedCall.Side.allCases.map { call.events($0).count }
        call.restartServer()
        call.run(for: .seconds(4))
        // Then both are back, and each plays the other and only the other, as a new stream
        for (side, known) in zip(SimulatedCall.Side.allCases, known) {
            let news = Array(call.events(side).dropFirst(known))
            #expect(news.count(Self.isBack) == 1)
            #expect(call.statistics(side).streams.count == 1)
            // Who got another number has left and come; who has the old one again is still there
            let left = news.count { if case .participantLeft = $0 { true } else { false } }
            let came = news.count { if case .participantJoined = $0 { true } else { false } }
            #expect(left == came, "side \(side)")
        }
        #expect(try Scenario.stream(call, at: .b).synchronizationSource != before)
        // And A still knows that B is muted
        let told = call.events(.a).compactMap { if case .participantMuted(_, let muted) = $0 { muted } else { nil } }
        #expect(told.last == true)
        // And A is heard, and B, who is muted, is not
        call.run(for: .seconds(2))
        let heard = try #require(
            SignalLevel(of: call.recording(.b).speaker.span.extracting(frameRange(6...8))).activeDecibels)
        #expect(heard > Talk.levelDecibels - 3)
        #expect(call.recording(.a).speaker[frameRange(6...8)].allSatisfy { abs($0) < 1e-3 })
    }

    @Test("who leaves is gone at once, and the reason is told")
    func leave() throws {
        let call = try SimulatedCall(Talk(a: [0.2...3], b: [0.2...3], length: 3, seed: 4).overCables)
        call.run(for: .seconds(1.5))
        #expect(call.statistics(.b).streams.count == 1)
        // When A leaves
        call.leave(.a)
        call.run(for: .milliseconds(500))
        // Then A is out, and has it acknowledged
        #expect(Self.ending(call.events(.a)) == .left(acknowledged: true))
        // And B is told, plays A no more, and hears silence
        #expect(Self.departure(call.events(.b)) == .left)
        #expect(call.statistics(.b).streams.isEmpty)
        call.run(for: .seconds(1))
        #expect(call.recording(.b).speaker[frameRange(2.1...3)].allSatisfy { $0 == 0 })
    }
}
