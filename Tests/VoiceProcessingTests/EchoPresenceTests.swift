import Testing

@testable import VoiceProcessing

@Suite("Whether there is an echo")
struct EchoPresenceTests {
    /// Mean squares: a room at -65 dBFS, and something heard at -30 dBFS.
    private static let room: Float = 3e-7
    private static let sound: Float = 1e-3

    /// Runs blocks of far-end speech without any proof and returns what is assumed after each.
    private static func run(
        _ presence: inout EchoPresence, microphone: Float, blocks: Int, reference: Float = sound,
        isPersistent: Bool = false
    ) -> [Float] {
        (0..<blocks).map { _ in
            presence.note(referencePower: reference, microphonePower: microphone)
            presence.judge(
                microphone: 160 * microphone, error: 160 * microphone, estimate: 0, product: 0, isEvident: false,
                isPersistent: isPersistent)
            return presence.presence
        }
    }

    /// With 0.2 s of the room alone before.
    private static func begin(room: Float) -> EchoPresence {
        var presence = EchoPresence()
        for _ in 0..<20 { presence.note(referencePower: 0, microphonePower: room) }
        return presence
    }

    @Test("an echo that comes late is still met by the assumption of one")
    func late() {
        // Given a far end that has talked for 0.4 s without a sound at the microphone
        var presence = Self.begin(room: Self.room)
        #expect(Self.run(&presence, microphone: Self.room, blocks: 40).allSatisfy { $0 == 1 })
        // When something is heard, then it is an echo for 50 ms at least
        #expect(Self.run(&presence, microphone: Self.sound, blocks: 5).allSatisfy { $0 == 1 })
    }

    @Test("whoever is heard without proof of an echo is let through within 0.15 s", arguments: [room, 1e-5] as [Float])
    func headset(room: Float) {
        var presence = Self.begin(room: room)
        let assumed = Self.run(&presence, microphone: Self.sound, blocks: 30)
        #expect(assumed[15] < 0.2)
        #expect(assumed[29] < 0.01)
    }

    @Test("a loud room is not taken for an echo's first sound")
    func loudRoom() {
        var presence = Self.begin(room: 1e-5)
        #expect(Self.run(&presence, microphone: 1.5e-5, blocks: 50).allSatisfy { $0 == 1 })
    }

    @Test("but no echo is waited for longer than a second")
    func patience() throws {
        var presence = Self.begin(room: Self.room)
        let assumed = Self.run(&presence, microphone: Self.room, blocks: 150)
        #expect(assumed[90] == 1)
        #expect(try #require(assumed.last) < 0.01)
    }

    @Test("a far end that only hisses uses nothing of that up, whoever talks meanwhile")
    func hiss() {
        // Given a talker of 3 s over a codec's hiss
        var presence = Self.begin(room: Self.room)
        let hissing = Self.run(&presence, microphone: Self.sound, blocks: 300, reference: 5e-7)
        #expect(hissing.allSatisfy { $0 == 1 })
        // When the far end begins to talk, then what is heard of it first is an echo
        #expect(Self.run(&presence, microphone: Self.sound, blocks: 5).allSatisfy { $0 == 1 })
    }

    @Test("faint peaks that go on agreeing are proof at the beginning, and not later")
    func faintPeaks() throws {
        var presence = Self.begin(room: Self.room)
        _ = Self.run(&presence, microphone: Self.sound, blocks: 5)
        #expect(try #require(Self.run(&presence, microphone: Self.sound, blocks: 10, isPersistent: true).last) == 1)
        var later = Self.begin(room: Self.room)
        _ = Self.run(&later, microphone: Self.sound, blocks: 60)
        #expect(try #require(Self.run(&later, microphone: Self.sound, blocks: 10, isPersistent: true).last) < 0.01)
    }
}
