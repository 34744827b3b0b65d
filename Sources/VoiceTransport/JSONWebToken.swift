internal import CJWT
internal import Glibc

/// libjwt's token object, owned.
@safe
struct JSONWebToken: ~Copyable {
    private let token: OpaquePointer
    private let failure = Failure()

    /// Whether a setter was refused; a class, so that setters need no `mutating` on a noncopyable `let`.
    private final class Failure { var hasOccurred = false }

    /// An empty token.
    init() throws(TokenKeyError) {
        var made: OpaquePointer?
        guard unsafe jwt_new(&made) == 0, let made = unsafe made else { throw .refused }
        unsafe token = made
    }

    /// Reads a token; with a key only if its signature is right, without one whatever its signature. Nil when not.
    init?(reading text: String, secret: [UInt8]?) {
        var made: OpaquePointer?
        let status: Int32
        if let secret {
            status = unsafe secret.withUnsafeBufferPointer {
                unsafe jwt_decode(&made, text, $0.baseAddress, Int32(clamping: $0.count))
            }
        } else {
            status = unsafe jwt_decode(&made, text, nil, 0)
        }
        guard status == 0, let made = unsafe made else { return nil }
        unsafe token = made
    }

    /// Reads a JSON object as the claims of an unsigned token, to look into it.
    init?(json: String) {
        var made: OpaquePointer?
        guard unsafe jwt_new(&made) == 0, let made = unsafe made else { return nil }
        guard unsafe jwt_add_grants_json(made, json) == 0 else {
            unsafe jwt_free(made)
            return nil
        }
        unsafe token = made
    }

    deinit { unsafe jwt_free(token) }

    // MARK: Reading

    /// Whether it was read with a key, and signed with HS256. The library forgets the algorithm of a token that was
    /// read without a key.
    var isHS256: Bool { unsafe jwt_get_alg(token) == JWT_ALG_HS256 }

    func has(_ claim: String) -> Bool { json(claim) != nil }

    func text(_ claim: String) -> String? {
        guard let value = unsafe jwt_get_grant(token, claim) else { return nil }
        return unsafe String(validatingCString: value)
    }

    func hasHeader(_ name: String) -> Bool {
        guard let text = unsafe jwt_get_headers_json(token, name) else { return false }
        unsafe free(text)
        return true
    }

    func header(_ name: String) -> String? {
        guard let value = unsafe jwt_get_header(token, name) else { return nil }
        return unsafe String(validatingCString: value)
    }

    /// A claim that is a whole number. The library's own reader takes any other type for 0; its writer does not lie.
    func number(_ claim: String) -> Int64? { json(claim).flatMap(Int64.init) }

    /// A claim that is true or false.
    func flag(_ claim: String) -> Bool? { json(claim).flatMap(Bool.init) }

    /// A claim, or all of them (nil), as JSON.
    func json(_ claim: String?) -> String? {
        guard let text = unsafe jwt_get_grants_json(token, claim) else { return nil }
        defer { unsafe free(text) }
        return unsafe String(validatingCString: text)
    }

    // MARK: Writing

    var hasFailed: Bool { failure.hasOccurred }

    func setHeader(_ name: String, _ value: String) {
        let isWhole = !value.utf8.contains(0)
        if unsafe !isWhole || jwt_add_header(token, name, value) != 0 { failure.hasOccurred = true }
    }

    func set(_ claim: String, _ value: String) {
        let isWhole = !value.utf8.contains(0)
        if unsafe !isWhole || jwt_add_grant(token, claim, value) != 0 { failure.hasOccurred = true }
    }

    func set(_ claim: String, _ value: Int64) {
        if unsafe jwt_add_grant_int(token, claim, Int(value)) != 0 { failure.hasOccurred = true }
    }

    func set(_ claim: String, _ value: Bool) {
        if unsafe jwt_add_grant_bool(token, claim, value ? 1 : 0) != 0 { failure.hasOccurred = true }
    }

    func merge(json: String) {
        if unsafe jwt_add_grants_json(token, json) != 0 { failure.hasOccurred = true }
    }

    /// The token's text, signed with HS256.
    func signed(with secret: [UInt8]) -> String? {
        let status = unsafe secret.withUnsafeBufferPointer {
            unsafe jwt_set_alg(token, JWT_ALG_HS256, $0.baseAddress, Int32(clamping: $0.count))
        }
        guard status == 0, let text = unsafe jwt_encode_str(token) else { return nil }
        defer { unsafe free(text) }
        return unsafe String(validatingCString: text)
    }
}
