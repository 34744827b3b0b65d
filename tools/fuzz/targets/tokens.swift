// modules: CLinuxRealtime CDTLS VoiceRealtime VoiceQueue VoiceWire VoicePeers VoiceRooms VoiceTransport
//
// Any bytes as an access token, any claims in one that is signed with the server's key, and a good one with a byte
// changed. Nothing may trap, and nothing is granted but what the holder of the key has signed.

import VoiceRooms

@testable import VoiceTransport

private let verifying = Budget("a token", limit: 20_000)
private let now: Int64 = 1_800_000_000
private let key = madeKey(7)
private let otherKey = madeKey(8)
private let verifier = TokenVerifier(keys: [key])

private func madeKey(_ byte: UInt8) -> TokenKey {
    do { return try TokenKey(name: "key", secret: [UInt8](repeating: byte, count: 32)) } catch { fatalError("no key") }
}

private func goodToken(_ key: TokenKey) -> [UInt8] {
    let grants = TokenGrants(identity: "alice", room: "kitchen")
    guard let token = try? TokenIssuer(key: key).token(for: grants, notBefore: now - 10, expires: now + 10) else {
        fatalError("no token")
    }
    return Array(token.utf8)
}

private let genuine = goodToken(key)
private let forged = goodToken(otherKey)

/// libFuzzer's entry: one input, always answered 0; a precondition that fails is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let bytes = unsafe bytes, count > 0 else { return 0 }
    let input = unsafe Span(_unsafeStart: bytes, count: count)
    let body = (1..<count).map { input[$0] }
    switch input[0] & 3 {
    case 0:
        if case .granted = verdict(body), body != genuine { fatalError("granted what nobody has signed") }
    case 1:
        // What the key's holder signs must be read as it says, and may be anything.
        guard let token = signed(String(decoding: body, as: UTF8.self)) else { return 0 }
        if case .granted(let grants) = verdict(Array(token.utf8)) {
            precondition(!grants.room.utf8.contains(0) && !grants.identity.utf8.contains(0))
        }
    case 2:
        var changed = genuine
        for pair in 0..<body.count / 2 { changed[Int(body[pair * 2]) % changed.count] ^= body[pair * 2 + 1] }
        if case .granted = verdict(changed), changed != genuine { fatalError("granted a token that was changed") }
    default:
        let place = min(body.count, forged.count)
        if case .granted = verdict(Array(forged[..<place]) + body) { fatalError("granted another key's token") }
    }
    return 0
}

private func verdict(_ token: [UInt8]) -> TokenVerdict {
    verifying.spend { verifier.verdict(on: token, unixTime: now) }
}

private func signed(_ claims: String) -> String? {
    guard !claims.utf8.contains(0), let token = try? JSONWebToken() else { return nil }
    token.merge(json: claims)
    return token.hasFailed ? nil : token.signed(with: key.secret)
}

func makeSeeds() -> [[UInt8]] {
    let claims = [
        "{}", #"{"iss":"key"}"#, #"{"iss":"key","exp":1800000010,"sub":"a","video":{"room":"r","roomJoin":true}}"#,
        #"{"iss":"key","exp":1800000010,"nbf":1700000000,"sub":"a","name":"A","video":{"room":"r","roomJoin":true,"canPublish":false,"canSubscribe":1}}"#,
        #"{"iss":"key","exp":"1800000010","nbf":-1.5e300,"sub":{},"video":[]}"#,
        #"{"iss":"key","exp":99999999999999999999,"sub":"a","video":{"room":"\u0000","roomJoin":"yes"}}"#,
    ]
    return claims.map { [1] + Array($0.utf8) } + [[0] + genuine, [0] + forged, [2, 3, 1], [2, 200, 4, 210, 9], [3]]
        + [[0] + Array("eyJhbGciOiJub25lIn0.e30.".utf8), [0] + Array("..".utf8)]
}
