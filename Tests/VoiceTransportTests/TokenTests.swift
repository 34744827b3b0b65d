import Testing
import VoiceRooms

@testable import VoiceTransport

let testSecret = Array("0123456789abcdef0123456789abcdef".utf8)

func testKey(_ name: String = "key", _ secret: [UInt8] = testSecret) throws -> TokenKey {
    try TokenKey(name: name, secret: secret)
}

struct TokenTests {
    static func verdict(_ token: String, at time: Int64 = 1500) throws -> TokenVerdict {
        try TokenVerifier(keys: [testKey()]).verdict(on: Array(token.utf8), unixTime: time)
    }

    /// The verdict that grants this, of a token that expires at 2000.
    static func granted(_ grants: TokenGrants) -> TokenVerdict {
        var grants = grants
        grants.expiresAt = 2010
        return .granted(grants)
    }

    @Test func whatIsIssuedIsGranted() throws {
        let grants = TokenGrants(
            identity: "al\"ice\\", name: "Ünï {\"video\":1}", room: "kitchen\n", canJoin: true, canPublish: false)
        let token = try TokenIssuer(key: testKey()).token(for: grants, notBefore: 1000, expires: 2000)
        #expect(try Self.verdict(token) == Self.granted(grants))
    }

    @Test func foreignTokensAreRead() throws {
        let genuine = try #require(foreignTokens["genuine"])
        #expect(
            try Self.verdict(genuine) == Self.granted(TokenGrants(identity: "alice", name: "Alice", room: "kitchen")))
        let rights = try #require(foreignTokens["rights"])
        #expect(
            try Self.verdict(rights)
                == Self.granted(
                    TokenGrants(
                        identity: "alice", name: "Alice", room: "kitchen", canPublish: false, canSubscribe: false)))
        let unicode = try #require(foreignTokens["unicode"])
        #expect(try Self.verdict(unicode) == Self.granted(TokenGrants(identity: "ünïcøde", name: "🎙", room: "kitchen")))
    }

    @Test(
        arguments: [
            (989, TokenVerdict.refused(.notYetValid)), (990, nil), (2009, nil), (2010, .refused(.expired)),
            (.max, .refused(.expired)), (.min, .refused(.notYetValid)),
        ] as [(Int64, TokenVerdict?)])
    func timesHaveTenSecondsOfLeeway(time: Int64, refusal: TokenVerdict?) throws {
        let verdict = try Self.verdict(try #require(foreignTokens["genuine"]), at: time)
        if let refusal {
            #expect(verdict == refusal)
        } else {
            #expect(verdict == Self.granted(TokenGrants(identity: "alice", name: "Alice", room: "kitchen")))
        }
    }

    @Test(
        arguments: [
            ("noExpiry", .malformed), ("textExpiry", .malformed), ("textRight", .malformed), ("noVideo", .malformed),
            ("videoIsText", .malformed), ("noSubject", .malformed), ("unknownKey", .badSignature),
            ("otherSecret", .badSignature), ("hs512Header", .badSignature), ("rs256Header", .badSignature),
            ("none", .badSignature), ("noneSigned", .badSignature),
        ] as [(String, RoomRefusal)])
    func whatIsNotRightIsRefused(name: String, refusal: RoomRefusal) throws {
        #expect(try Self.verdict(try #require(foreignTokens[name])) == .refused(refusal))
    }

    @Test func everyChangedCharacterIsNoticed() throws {
        let genuine = Array(try #require(foreignTokens["genuine"]).utf8)
        let verifier = TokenVerifier(keys: [try testKey()])
        // The last character carries two bits that a decoder ignores (RFC 4648 section 3.5).
        for index in genuine.indices.dropLast() {
            var token = genuine
            token[index] = token[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            guard case .refused(let refusal) = verifier.verdict(on: token, unixTime: 1500) else {
                Issue.record("a change at \(index) was granted")
                continue
            }
            #expect(refusal == .malformed || refusal == .badSignature)
        }
    }

    @Test func whatIsNoTokenIsMalformed() throws {
        let verifier = TokenVerifier(keys: [try testKey()])
        let genuine = Array(try #require(foreignTokens["genuine"]).utf8)
        let none: [[UInt8]] = [
            [], [0], genuine + [0], genuine + [0] + genuine, Array("a.b.c".utf8), Array("...".utf8), [0xFF, 0xFE],
            [UInt8](repeating: UInt8(ascii: "e"), count: 1001), Array(genuine.prefix(40)),
        ]
        for token in none { #expect(verifier.verdict(on: token, unixTime: 1500) == .refused(.malformed)) }
    }

    @Test func shortSecretsAndLongTokensAreRefused() throws {
        #expect(throws: TokenKeyError.secretTooShort) {
            try TokenKey(name: "key", secret: Array(testSecret.dropLast()))
        }
        let grants = TokenGrants(identity: String(repeating: "x", count: 1000), room: "kitchen")
        #expect(throws: TokenKeyError.tokenTooLong) {
            try TokenIssuer(key: testKey()).token(for: grants, notBefore: 0, expires: 1)
        }
        #expect(throws: TokenKeyError.refused) {
            try TokenIssuer(key: testKey()).token(
                for: TokenGrants(identity: "a\0b", room: "kitchen"), notBefore: 0, expires: 1)
        }
    }

    @Test func secretsAndTokensAreNotPrinted() throws {
        let endpoint = try RoomEndpoint(url: "udp://localhost:7000", token: "secret-token")
        for text in [
            "\(endpoint)", String(reflecting: endpoint), "\(try testKey())", String(reflecting: try testKey()),
        ] {
            #expect(!text.contains("secret-token") && !text.contains("0123456789"))
        }
    }
}
