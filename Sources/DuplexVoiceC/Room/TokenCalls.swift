public import CDuplexVoice
internal import VoiceEngine
internal import VoiceRooms
internal import VoiceTransport

/// `dv_token_create`.
@c @implementation
public func dv_token_create(
    _ key: UnsafePointer<CChar>?, _ secret: UnsafePointer<CChar>?, _ grants: UnsafePointer<dv_token_grants>?,
    _ token: UnsafeMutablePointer<CChar>?, _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        guard let token = unsafe token else { throw .argument("token is null; give DV_TOKEN_BYTES bytes") }
        unsafe token.pointee = 0
        let key = try unsafe TokenKey(key, secret)
        let given = try unsafe dv_token_grants.read(grants)
        let grants = try TokenGrants(given)
        guard given.not_before >= 0, given.expires > given.not_before else {
            throw .argument(
                "grants.not_before is \(given.not_before) and grants.expires \(given.expires); give seconds since 1970, the latter later"
            )
        }
        let made: String
        do throws(TokenKeyError) {
            made = try TokenIssuer(key: key).token(for: grants, notBefore: given.not_before, expires: given.expires)
        } catch {
            throw Failure(error)
        }
        // The issuer makes none that is longer than the buffer.
        for (index, byte) in made.utf8.enumerated() { unsafe token[index] = CChar(bitPattern: byte) }
        unsafe token[made.utf8.count] = 0
    }
}

/// `dv_token_check`.
@c @implementation
public func dv_token_check(
    _ key: UnsafePointer<CChar>?, _ secret: UnsafePointer<CChar>?, _ token: UnsafePointer<CChar>?, _ unix_time: Int64,
    _ grants: UnsafeMutablePointer<dv_token_grants>?, _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        guard let token = try unsafe text(token, "token") else { throw .argument("token is null; give one") }
        let verifier = TokenVerifier(keys: [try unsafe TokenKey(key, secret)])
        switch verifier.verdict(on: Array(token.utf8), unixTime: unix_time) {
        case .refused(let refusal): throw Failure(DV_NOT_PERMITTED, refusal.explanation, code: refusal.code)
        case .granted(let granted):
            if unsafe grants != nil { try unsafe dv_token_grants(granted).write(to: unsafe grants) }
        }
    }
}

extension TokenKey {
    fileprivate init(_ key: UnsafePointer<CChar>?, _ secret: UnsafePointer<CChar>?) throws(Failure) {
        guard let key = try unsafe text(key, "key"), let secret = try unsafe text(secret, "secret") else {
            throw .argument("key or secret is null; give both")
        }
        do throws(TokenKeyError) { try self.init(name: key, secret: Array(secret.utf8)) } catch { throw Failure(error) }
    }
}

extension Failure {
    fileprivate init(_ error: TokenKeyError) {
        self =
            switch error {
            case .secretTooShort:
                .argument("secret is shorter than \(TokenKey.minimumSecretSize) bytes; take a longer one")
            case .refused: Failure(DV_INTERNAL, "the token could not be made; this is worth a report")
            case .metadataTooLong, .tokenTooLong:
                .argument("the token would be too long; shorten identity, name or room")
            }
    }
}

extension TokenGrants {
    fileprivate init(_ given: dv_token_grants) throws(Failure) {
        self.init(
            identity: try text(of: given.identity, "grants.identity", mayBeEmpty: false),
            name: try text(of: given.name, "grants.name"),
            room: try text(of: given.room, "grants.room", mayBeEmpty: false),
            canJoin: try !flag(given.may_not_join, "grants.may_not_join"),
            canPublish: try !flag(given.may_not_publish, "grants.may_not_publish"),
            canSubscribe: try !flag(given.may_not_subscribe, "grants.may_not_subscribe"))
    }
}

extension dv_token_grants {
    fileprivate init(_ granted: TokenGrants) {
        self.init()
        may_not_join = granted.canJoin ? 0 : 1
        may_not_publish = granted.canPublish ? 0 : 1
        may_not_subscribe = granted.canSubscribe ? 0 : 1
        expires = granted.expiresAt ?? .max
        fill(&identity, with: granted.identity)
        fill(&room, with: granted.room)
        fill(&name, with: granted.name)
    }
}

/// What stands in an array of characters of C's, of as many bytes as a room takes.
private func text<Characters: BitwiseCopyable>(
    of field: Characters, _ name: String, mayBeEmpty: Bool = true
) throws(Failure) -> String {
    let bytes = unsafe withUnsafeBytes(of: field) { unsafe Array($0.prefix { $0 != 0 }) }
    guard bytes.count <= RoomProtocol.textLimit else {
        throw .argument("\(name) is \(bytes.count) bytes or more; take \(RoomProtocol.textLimit) at most, and a zero")
    }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .argument("\(name) is not UTF-8") }
    guard mayBeEmpty || !text.isEmpty else { throw .argument("\(name) is empty; give one") }
    return text
}
