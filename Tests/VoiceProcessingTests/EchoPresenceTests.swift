import Testing

@testable import VoiceProcessing

@Suite("Whether there is an echo")
struct EchoPresenceTests {
    /// Mean squares: a room at -65 dBFS, and something heard at -30 dBFS.
    private static let room: Float = 3e-7
    private static let sound: Float = 1e-3

    /// Runs blocks of far-end speech and returns what is assumed after each. The only proof may be an estimate that is
    /// a `share` of what is heard or `leaves` a share of it, and peaks that go on agreeing.
    private static func run(
        _ presence: inout EchoPresence, microphone: Float, blocks: Int, reference: Float = sound,
        share: Float = 0, leaves: Float = 1, isPersistent: Bool = false
    ) -> [Float] {
        (0..<blocks).map { _ in
            presence.observe(referencePower: reference, microphonePower: microphone)
            presence.judge(
                microphone: 160 * microphone, error: 160 * leaves * microphone, estimate: 160 * share * microphone,
                product: 160 * share * microphone, isEvident: false, isPersistent: isPersistent)
            return presence.presence
        }
    }

    /// With 0.2 s of the room alone before.
    private static func begin(room: Float) -> EchoPresence {
        var presence = EchoPresence()
        for _ in 0..<20 { presence.observe(referencePower: 0, microphonePower: room) }
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

    @Test(
        "in the first half second an estimate is proof that explains nearly all of what is heard, later one that explains some",
        arguments: [(0.8, 16, true), (0.5, 16, false), (0.5, 60, true), (0.01, 60, false)] as [(Float, Int, Bool)])
    func estimate(share: Float, blocks: Int, isProof: Bool) throws {
        var presence = Self.begin(room: Self.room)
        let assumed = try #require(Self.run(&presence, microphone: Self.sound, blocks: blocks, share: share).last)
        #expect(isProof ? assumed == 1 : assumed < 0.2, "\(assumed)")
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

    @Test(
        "nor does a reference that was recorded with hiss, and nobody is held back for its sake",
        arguments: [2e-5, 6e-5] as [Float])
    func recordedHiss(power: Float) {
        // Given 3 s of hiss as loud as -47 and -42 dBFS, which swings by 6 dB, and a talker
        var presence = EchoPresence()
        for block in 0..<300 {
            let hiss = block.isMultiple(of: 7) ? power : power / 4
            #expect(Self.run(&presence, microphone: Self.sound, blocks: 1, reference: hiss) == [1])
            #expect(!presence.isUnsure)
        }
        #expect(presence.farTime == 0)
        // When the far end begins to talk, then what is heard of it first is an echo
        #expect(Self.run(&presence, microphone: Self.sound, blocks: 5).allSatisfy { $0 == 1 })
        #expect(presence.isUnsure)
    }

    @Test("music that never pauses is a far end all the same")
    func music() throws {
        var presence = Self.begin(room: Self.room)
        #expect(try #require(Self.run(&presence, microphone: Self.sound, blocks: 30).last) < 0.01)
    }

    @Test("a far end that talks softly over no hiss at all is heard")
    func soft() throws {
        var presence = Self.begin(room: Self.room)
        _ = Self.run(&presence, microphone: Self.room, blocks: 10, reference: 2e-7)
        #expect(try #require(Self.run(&presence, microphone: Self.sound, blocks: 30, reference: 1e-4).last) < 0.01)
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

    @Test("a delay that was found proves an echo, for as long as one is believed in that is not seen again")
    func found() throws {
        // Given a sound that nothing proved an echo
        var presence = Self.begin(room: Self.room)
        #expect(try #require(Self.run(&presence, microphone: Self.sound, blocks: 60).last) < 0.01)
        // When its delay is found
        presence.presume()
        // Then there is an echo at once, and none any more when nothing else shows one
        let assumed = Self.run(&presence, microphone: Self.sound, blocks: 350)
        #expect(assumed[..<290].allSatisfy { $0 == 1 })
        #expect(try #require(assumed.last) < 0.01)
    }

    @Test("a delay that was found in the first half second, which may be chance, proves one for less")
    func foundEarly() throws {
        var presence = Self.begin(room: Self.room)
        presence.presume()
        let assumed = Self.run(&presence, microphone: Self.sound, blocks: 60)
        #expect(assumed[..<35].allSatisfy { $0 == 1 })
        #expect(try #require(assumed.last) < 0.05)
    }

    @Test(
        "an estimate that explains much, or some for longer, is proof in the first moments; one that explains little is not",
        arguments: [(0.6, true), (0.75, true), (0.85, false)] as [(Float, Bool)])
    func quick(leaves: Float, isProof: Bool) throws {
        var presence = Self.begin(room: Self.room)
        let assumed = Self.run(&presence, microphone: Self.sound, blocks: 40, leaves: leaves)
        #expect(isProof ? assumed.allSatisfy { $0 == 1 } : try #require(assumed.last) < 0.01, "\(assumed)")
    }

    @Test("an estimate that explains some for 50 ms is chance")
    func shortQuick() throws {
        var presence = Self.begin(room: Self.room)
        _ = Self.run(&presence, microphone: Self.sound, blocks: 5, leaves: 0.75)
        #expect(try #require(Self.run(&presence, microphone: Self.sound, blocks: 40).last) < 0.01)
    }

    @Test("an estimate that begins to leave little later is chance")
    func lateQuick() throws {
        var presence = Self.begin(room: Self.room)
        _ = Self.run(&presence, microphone: Self.sound, blocks: 40)
        #expect(try #require(Self.run(&presence, microphone: Self.sound, blocks: 20, leaves: 0.3).last) < 0.01)
    }

    @Test("a room whose hum swings by 9 dB from block to block is not taken for an echo's first sound")
    func hum() {
        // Given the far end's first 0.5 s, of which nothing is heard yet
        var presence = EchoPresence()
        for block in 0..<100 {
            presence.observe(referencePower: 0, microphonePower: block.isMultiple(of: 2) ? 2e-6 : 1.6e-5)
        }
        for block in 0..<50 {
            let hum: Float = block.isMultiple(of: 2) ? 2e-6 : 1.6e-5
            #expect(Self.run(&presence, microphone: hum, blocks: 1) == [1])
        }
        // When its echo begins, then it is met
        #expect(Self.run(&presence, microphone: Self.sound, blocks: 5).allSatisfy { $0 == 1 })
    }
}
