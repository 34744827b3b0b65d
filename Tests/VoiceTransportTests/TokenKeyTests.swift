import Testing
import VoiceRooms

@testable import VoiceTransport

@Suite("Which key a token is of")
struct TokenKeyTests {
    private static let grants = TokenGrants(identity: "alice", room: "kitchen")

    private static func key(_ name: String, _ byte: UInt8) throws -> TokenKey {
        try TokenKey(name: name, secret: [UInt8](repeating: byte, count: 32))
    }

    /// A token with these headers and this issuer, signed with a key.
    private static func token(_ headers: [String: String], issuer: String?, signedWith key: TokenKey) throws -> [UInt8]
    {
        let token = try JSONWebToken()
        for (name, value) in headers { token.setHeader(name, value) }
        if let issuer { token.set("iss", issuer) }
        token.set("sub", "alice")
        token.set("exp", 2000)
        token.merge(json: #"{"video":{"room":"kitchen","roomJoin":true}}"#)
        return try token.bytes(signedWith: key.secret)
    }

    private static func isGranted(_ token: [UInt8], _ verifier: TokenVerifier) throws -> Bool {
        switch verifier.verdict(on: token, unixTime: 1500) {
        case .granted(let grants):
            #expect(grants.identity == "alice")
            return true
        case .refused(let refusal):
            #expect(refusal == .badSignature)
            return false
        }
    }

    @Test("the header's key, whoever issued it; without one, the issuer's")
    func choice() throws {
        let (old, new, other) = (try Self.key("old", 1), try Self.key("new", 2), try Self.key("other", 3))
        let verifier = TokenVerifier(keys: [old, new])
        let cases: [(headers: [String: String], issuer: String?, key: TokenKey, isGranted: Bool)] = [
            (["kid": "new"], "anyone", new, true), (["kid": "new"], nil, new, true), (["kid": "old"], "new", old, true),
            ([:], "old", old, true), ([:], "new", new, true),
            // The header comes first, also where the issuer's key is the one that signed.
            (["kid": "old"], "new", new, false), (["kid": "third"], "new", new, false),
            (["kid": ""], "new", new, false),
            (["kid": "new"], "new", other, false), ([:], "new", old, false), ([:], "third", new, false),
            ([:], nil, new, false), (["Kid": "new"], nil, new, false),
        ]
        for (headers, issuer, key, isGranted) in cases {
            let token = try Self.token(headers, issuer: issuer, signedWith: key)
            #expect(try Self.isGranted(token, verifier) == isGranted, "\(headers) \(issuer ?? "nobody") \(key)")
        }
    }

    @Test("a header whose key is no text names no key, not the issuer's")
    func headerOfAnotherType() throws {
        let verifier = TokenVerifier(keys: [try Self.key("key", 1)])
        let claims = #"{"iss":"key","sub":"alice","exp":2000,"video":{"room":"kitchen","roomJoin":true}}"#
        // HMAC-SHA256 of what stands before, by 32 bytes of 1.
        let cases: [(key: String, signature: String, isGranted: Bool)] = [
            (#""key""#, "WOIoZHJmxc_T8YygMbsvSovsO5TV1-FGkRh5kuTyXHk", true),
            ("7", "mOPC5UT-SmR2bK-Nvkn_SRdbWGgU74sbs2DdZrIbWI8", false),
        ]
        for (key, signature, isGranted) in cases {
            let header = #"{"alg":"HS256","typ":"JWT","kid":\#(key)}"#
            let token = [Self.base64(header), Self.base64(claims), signature].joined(separator: ".")
            #expect(try Self.isGranted(Array(token.utf8), verifier) == isGranted, "\(key)")
        }
    }

    @Test("a token without a signature is refused whatever key it names")
    func unsigned() throws {
        let verifier = TokenVerifier(keys: [try Self.key("key", 1)])
        let claims = #"{"iss":"key","sub":"alice","exp":2000,"video":{"room":"kitchen","roomJoin":true}}"#
        for algorithm in ["none", "None", "NONE", "HS256", "hs256", "HS384", "RS256", ""] {
            let header = #"{"alg":"\#(algorithm)","typ":"JWT","kid":"key"}"#
            for signature in ["", ".", ".AAAA"] {
                let token = Self.base64(header) + "." + Self.base64(claims) + signature
                guard case .refused(let refusal) = verifier.verdict(on: Array(token.utf8), unixTime: 1500) else {
                    Issue.record("\(algorithm) was granted")
                    continue
                }
                #expect(refusal == .badSignature || refusal == .malformed)
            }
        }
    }

    @Test("what an issuer issues names its key, in the header where it has a name of its own")
    func issuer() throws {
        let key = try Self.key("2026-11", 1)
        let plain = try TokenIssuer(key: key).token(for: Self.grants, notBefore: 1000, expires: 2000)
        let named = try TokenIssuer(key: key, issuer: "duplex").token(for: Self.grants, notBefore: 1000, expires: 2000)
        let (first, second) = (Self.names(plain), Self.names(named))
        #expect(first == ["2026-11", nil] && second == ["duplex", "2026-11"])
        for token in [plain, named] {
            #expect(try Self.isGranted(Array(token.utf8), TokenVerifier(keys: [key])))
            #expect(try !Self.isGranted(Array(token.utf8), TokenVerifier(keys: [Self.key("2026-11", 2)])))
            #expect(try !Self.isGranted(Array(token.utf8), TokenVerifier(keys: [Self.key("2026-12", 1)])))
            #expect(try !Self.isGranted(Array(token.utf8), TokenVerifier(keys: [])))
        }
    }

    @Test(
        "keys that are replaced: the new ones are taken at once, the old ones no longer, also by who copied the verifier"
    )
    func rotation() throws {
        let (old, new) = (try Self.key("old", 1), try Self.key("new", 2))
        let keyring = TokenKeyring(keys: [old])
        let verifier = TokenVerifier(keyring: keyring)
        let copy = verifier
        let ofOld = try Self.token(["kid": "old"], issuer: nil, signedWith: old)
        let ofNew = try Self.token(["kid": "new"], issuer: nil, signedWith: new)
        func granted() throws -> [Bool] { try [ofOld, ofNew].map { try Self.isGranted($0, copy) } }
        #expect(try granted() == [true, false])
        keyring.replace(keys: [new, old])
        #expect(try granted() == [true, true] && keyring.keys.map(\.name) == ["new", "old"])
        keyring.replace(keys: [new])
        #expect(try granted() == [false, true])
        // One name with another secret is another key.
        verifier.keyring.replace(keys: [try Self.key("new", 3)])
        #expect(try granted() == [false, false])
    }

    /// The issuer, and the header's key.
    private static func names(_ text: String) -> [String?]? {
        guard let token = JSONWebToken(reading: text, secret: nil) else { return nil }
        return [token.text("iss"), token.header("kid")]
    }

    /// As JSON Web Tokens have it (RFC 7515 section 2).
    private static func base64(_ text: String) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        let bits = text.utf8.flatMap { byte in (0..<8).map { byte >> (7 - $0) & 1 } }
        return String(
            stride(from: 0, to: bits.count, by: 6).map { start in
                alphabet[(0..<6).reduce(0) { $0 << 1 | (start + $1 < bits.count ? Int(bits[start + $1]) : 0) }]
            })
    }
}

extension JSONWebToken {
    /// The whole token.
    fileprivate func bytes(signedWith secret: [UInt8]) throws -> [UInt8] {
        let text = hasFailed ? nil : signed(with: secret)
        return Array(try #require(text).utf8)
    }
}

@Suite("What a token says beside its room")
struct TokenClaimTests {
    /// A token with these claims more, of the key "key".
    private static func verdict(
        _ claims: String, at time: Int64 = 1500, expiryLeeway: Duration = TokenVerifier.leeway,
        notBeforeLeeway: Duration = TokenVerifier.leeway
    ) throws -> TokenVerdict {
        let token = try JSONWebToken()
        token.merge(json: #"{"iss":"key","sub":"alice","video":{"room":"kitchen","roomJoin":true}}"#)
        token.merge(json: "{\(claims)}")
        let signed = try token.bytes(signedWith: testSecret)
        let verifier = TokenVerifier(
            keys: [try testKey()], expiryLeeway: expiryLeeway, notBeforeLeeway: notBeforeLeeway)
        return verifier.verdict(on: signed, unixTime: time)
    }

    private static func grants(metadata: String = "", until end: Int64) -> TokenVerdict {
        .granted(TokenGrants(identity: "alice", room: "kitchen", metadata: metadata, expiresAt: end))
    }

    @Test("times have the leeway that was asked for, up to the second")
    func leeway() throws {
        let times = #""nbf":1000,"exp":2000"#
        for (expiry, notBefore) in [(0, 0), (0, 30), (30, 0), (90, 7)] as [(Int64, Int64)] {
            func verdict(_ time: Int64) throws -> TokenVerdict {
                try Self.verdict(
                    times, at: time, expiryLeeway: .seconds(expiry), notBeforeLeeway: .seconds(notBefore))
            }
            #expect(try verdict(999 - notBefore) == .refused(.notYetValid))
            #expect(try verdict(1000 - notBefore) == Self.grants(until: 2000 + expiry))
            #expect(try verdict(1999 + expiry) == Self.grants(until: 2000 + expiry))
            #expect(try verdict(2000 + expiry) == .refused(.expired))
        }
        // Less than none is none.
        #expect(try Self.verdict(times, at: 1999, expiryLeeway: .seconds(-5)) == Self.grants(until: 2000))
    }

    @Test("times at the ends of what can be written do not overflow")
    func extremes() throws {
        #expect(try Self.verdict(#""exp":\#(Int64.max),"nbf":\#(Int64.min)"#) == Self.grants(until: .max))
        #expect(try Self.verdict(#""exp":\#(Int64.min)"#, at: .max) == .refused(.expired))
        #expect(try Self.verdict(#""exp":\#(Int64.max),"nbf":\#(Int64.max)"#) == .refused(.notYetValid))
        #expect(try Self.verdict(#""exp":\#(Int64.max)"#, at: .max) == .refused(.expired))
        for exp in ["1e300", "-0.5", "null", "true", "[2000]", "2000.0"] {
            #expect(try Self.verdict(#""exp":\#(exp)"#) == .refused(.malformed), "\(exp)")
        }
    }

    @Test("metadata: text of at most 512 bytes, or none")
    func metadata() throws {
        let exp = #""exp":2000,"metadata":"#
        let long = String(repeating: "m", count: TokenVerifier.metadataLimit)
        #expect(try Self.verdict(exp + "\"\(long)\"") == Self.grants(metadata: long, until: 2010))
        #expect(try Self.verdict(exp + "\"\(long)m\"") == .refused(.malformed))
        #expect(try Self.verdict(exp + #""""#) == Self.grants(until: 2010))
        #expect(try Self.verdict(exp + #""{\"a\":\"ü\"}""#) == Self.grants(metadata: #"{"a":"ü"}"#, until: 2010))
        for other in ["7", "null", "true", "{}", #"["text"]"#] {
            #expect(try Self.verdict(exp + other) == .refused(.malformed), "\(other)")
        }
        // Bytes count, not characters.
        let wide = String(repeating: "ü", count: 256)
        #expect(try Self.verdict(exp + "\"\(wide)\"") == Self.grants(metadata: wide, until: 2010))
        #expect(try Self.verdict(exp + "\"\(wide)ü\"") == .refused(.malformed))
    }

    @Test("metadata is issued as it is granted, with its bounds")
    func issuedMetadata() throws {
        let issuer = TokenIssuer(key: try testKey())
        func token(_ metadata: String) throws(TokenKeyError) -> String {
            let grants = TokenGrants(identity: "alice", room: "kitchen", metadata: metadata, expiresAt: 5)
            return try issuer.token(for: grants, notBefore: 1000, expires: 2000)
        }
        for metadata in [
            "", #"{"seat":"\"12\""}"#, "Ünï\n", String(repeating: "m", count: TokenVerifier.metadataLimit),
        ] {
            let verdict = TokenVerifier(keys: [try testKey()]).verdict(
                on: Array(try token(metadata).utf8), unixTime: 1500)
            #expect(verdict == Self.grants(metadata: metadata, until: 2010), "\(metadata)")
        }
        #expect(throws: TokenKeyError.metadataTooLong) { try token(String(repeating: "m", count: 513)) }
        #expect(throws: TokenKeyError.refused) { try token("a\0b") }
    }
}
