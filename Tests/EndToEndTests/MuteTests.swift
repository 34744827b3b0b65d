import SimulatedCalls
import TestCases
import Testing
import VoiceEngine
import VoiceSimulation

@Suite("Mute")
struct MuteTests {
    /// A call in which A talks all the time, and is muted from 2 to 4 s where `mutes`.
    private func call(mutes: Bool) throws -> SimulatedCall {
        let call = try SimulatedCall(Talk(a: [0.2...6], length: 6.2, seed: 3).overCables)
        call.run(for: .seconds(2))
        if mutes { try call.setMuted(true, .a) }
        call.run(for: .seconds(2))
        if mutes { try call.setMuted(false, .a) }
        call.run(for: .seconds(2.2))
        return call
    }

    @Test("a muted side sends nothing, and the other side is told")
    func sendsNothing() throws {
        // Given a call in which A talks
        let call = try SimulatedCall(Talk(a: [0.2...4], length: 4, seed: 3).overCables)
        call.run(for: .seconds(1.5))
        // When A mutes
        try call.setMuted(true, .a)
        call.run(for: .milliseconds(100))
        let (sent, received) = (call.network(.a).up.sent, call.statistics(.a).uplink.packetsSent)
        call.run(for: .seconds(1.4))
        // Then no packet of sound leaves it; keepalives of the control channel, one in 2 s, do
        #expect(call.statistics(.a).uplink.packetsSent == received)
        #expect(call.network(.a).up.sent - sent <= 4)
        // And B hears silence
        let heard = call.recording(.b).speaker[frameRange(2.2...2.9)]
        #expect(heard.allSatisfy { abs($0) < 1e-3 })
        // And B knows
        let told = call.events(.b).compactMap { if case .participantMuted(_, let muted) = $0 { muted } else { nil } }
        #expect(told == [true])
        // And when A unmutes, B knows that too
        try call.setMuted(false, .a)
        call.run(for: .milliseconds(500))
        let later = call.events(.b).compactMap { if case .participantMuted(_, let muted) = $0 { muted } else { nil } }
        #expect(later == [true, false])
        #expect(call.statistics(.a).uplink.packetsSent > received + 15)
    }

    @Test(
        "silence is sent on, or a packet a second, where that is asked for",
        .enabled(if: isOptimised), arguments: [MuteKind.silence, .keepAlive])
    func kinds(kind: MuteKind) throws {
        let call = try SimulatedCall(Talk(a: [0.2...6], length: 6, seed: 3).overCables)
        call.run(for: .seconds(1.5))
        try call.setMuted(true, as: kind, .a)
        call.run(for: .milliseconds(100))
        let before = call.statistics(.a).uplink.packetsSent
        call.run(for: .seconds(2))
        // Then packets go on, as many as the kind says: 20 ms each, or one a second
        let sent = call.statistics(.a).uplink.packetsSent - before
        #expect(kind == .silence ? (98...102).contains(sent) : (1...2).contains(sent), "\(sent)")
        // And B hears silence, and nothing made up
        #expect(call.recording(.b).speaker[frameRange(2.2...3.4)].allSatisfy { abs($0) < 1e-3 })
        // And the first word after it is heard
        try call.setMuted(false, .a)
        call.run(for: .seconds(1))
        let level = SignalLevel(of: call.recording(.b).speaker[frameRange(3.8...4.5)].span).rmsDecibels
        #expect((level ?? -96) > -45)
    }

    @Test(
        "the end of what is said before muting fades: nothing is made up behind it", .enabled(if: isOptimised))
    func fades() throws {
        // Given a call in which A mutes in the middle of a word, and the same call without muting
        let (muted, open) = (try call(mutes: true), try call(mutes: false))
        let hearing = try #require(Hearing(open, from: .a, while: 1...2))
        let heard = Hearing(muted.recording(.a), muted.recording(.b), delayFrames: hearing.delayFrames)
        // The block that the muting meets began up to 10 ms before it.
        let said = try #require(SignalLevel(of: hearing.heard(1.975...1.99).span).rmsDecibels)
        #expect(said > -35)
        // Then B hears what A said until then
        let before = try #require(SignalLevel(of: heard.heard(1.975...1.99).span).rmsDecibels)
        #expect(abs(before - said) < 0.2)
        // And hardly anything behind the fade: it was sent, so there is nothing to extrapolate
        #expect((SignalLevel(of: heard.heard(2.005...2.3).span).rmsDecibels ?? -96) < -60)
        // And no step in the sound is larger than those in the voice itself
        let steps = { (sound: [Float]) in zip(sound, sound.dropFirst()).map { abs($0 - $1) }.max() ?? 0 }
        #expect(steps(heard.heard(1.9...2.2)) < 1.5 * steps(hearing.heard(1.5...2.5)))
    }

    @Test("the first word after unmuting is whole but for the fade", .enabled(if: isOptimised))
    func firstWord() throws {
        // Given a call in which A unmutes while talking, and the same call without muting
        let (muted, open) = (try call(mutes: true), try call(mutes: false))
        // When what is heard of the two is compared from the end of the fade on, each by its own way
        let later = try #require(Hearing(muted, from: .a, while: 4.1...5.8))
        let reference = try #require(Hearing(open, from: .a, while: 4.1...5.8))
        var compared = 0
        for start in stride(from: 4.02, to: 4.3, by: 0.02) {
            let word = start...start + 0.02
            guard let expected = SignalLevel(of: reference.heard(word).span).rmsDecibels, expected > -45 else {
                continue
            }
            // Then each 20 ms is as loud. Measured: within 0.6 dB
            let level = try #require(SignalLevel(of: later.heard(word).span).rmsDecibels)
            #expect(abs(level - expected) < 2, "at \(start) s")
            compared += 1
        }
        #expect(compared > 0, "A says nothing there")
    }
}
