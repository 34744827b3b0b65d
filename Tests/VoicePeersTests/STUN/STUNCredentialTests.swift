import TestCases
import Testing

@testable import VoicePeers

@Suite("STUN credentials")
struct STUNCredentialTests {
    @Test("a user fragment is 16 characters that ICE allows, and read back")
    func fragments() {
        var random = SeededNumbers(seed: 1)
        let characters = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        for _ in 0..<1_000 {
            let peer = PeerID(
                slot: UInt32(truncatingIfNeeded: random.next()), generation: UInt32(truncatingIfNeeded: random.next()))
            let fragment = UserFragment(peer: peer, salt: UInt32(truncatingIfNeeded: random.next()))
            let text = [UInt8](fragment.characters)
            #expect(text.count == 16 && text.allSatisfy(characters.contains))
            #expect(UserFragment(text.span) == fragment && fragment.peer == peer)
        }
        // By hand: 96 bits in base64, "AAAAAQAAAAIAAAAD".
        let known = UserFragment(peer: PeerID(slot: 1, generation: 2), salt: 3)
        #expect([UInt8](known.characters) == Array("AAAAAQAAAAIAAAAD".utf8))
    }

    @Test("a user name without a server's fragment names nobody")
    func strangers() {
        func fragment(_ username: String) -> UserFragment? {
            let bytes = Array(username.utf8)
            return UserFragment(serverPartOf: bytes.span)
        }
        #expect(fragment("AAAAAQAAAAIAAAAD:")?.peer == PeerID(slot: 1, generation: 2))
        #expect(fragment("AAAAAQAAAAIAAAAD:abcd:efgh") != nil)
        for other in [
            "", ":", "AAAAAQAAAAIAAAAD", "AAAAAQAAAAIAAAA:abcd", "AAAAAQAAAAIAAAADA:abcd", "AAAAAQAAAAIAAA-D:abcd",
            "AAAAAQAAAAIAAA D:abcd", "AAAAAQAAAAIAAA\0D:abcd", "AAAAAQAAAAIAAA=D:abcd", "evtj:h6vY",
        ] {
            #expect(fragment(other) == nil, "\(other)")
        }
    }

    @Test("a password is 22 characters that ICE allows, and not shown")
    func passwords() {
        // 128 bits in base64 without its padding.
        #expect([UInt8](STUNPassword(high: 0, low: 1).characters) == Array("AAAAAAAAAAAAAAAAAAAAAQ".utf8))
        let password = STUNPassword(high: 0x1234_5678_9ABC_DEF0, low: 0xFFFF_FFFF_FFFF_FFFF)
        #expect([UInt8](password.characters) == Array("EjRWeJq83vD//////////w".utf8))
        let credentials = STUNCredentials(fragment: UserFragment(high: 1, low: 2), password: password)
        for text in ["\(password)", String(reflecting: password), "\(credentials)", String(reflecting: credentials)] {
            #expect(!text.contains("EjRW") && !text.contains("1311768467463790320") && text.contains("hidden"))
        }
    }
}

extension [UInt8] {
    init<let count: Int>(_ array: InlineArray<count, UInt8>) { self = array.indices.map { array[$0] } }
}
