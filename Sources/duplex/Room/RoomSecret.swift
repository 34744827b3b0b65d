import ArgumentParser
import VoiceTransport

/// Where the keys that sign tokens come from. Never from the command line, which every user of the machine can read.
struct RoomSecret: ParsableArguments {
    @Option(
        help: "A file whose first line is the secret that signs tokens; or set DUPLEX_ROOM_SECRET.", completion: .file()
    )
    var secretFile: String?

    @Option(
        help: "A file with several keys, 'name: secret' a line, as LiveKit's; nobody else may be able to read it.",
        completion: .file())
    var keyFile: String?

    @Option(help: "The key's name, the tokens' issuer. (default: \(RoomSecret.usualKey))")
    var key: String?

    @Option(help: "Which key it is, as the tokens' header says ('kid'); without it, the key is the one named by --key.")
    var keyID: String?

    static let usualKey = "duplex"

    /// Whether something is said of one key among several, or of what one secret is called.
    var namesKey: Bool { key != nil || keyID != nil }

    private var issuer: String { key ?? Self.usualKey }

    /// More than any secret; what follows is not read.
    private static let longest = 4_096

    func validate() throws {
        guard keyFile == nil || secretFile == nil else {
            throw ValidationError("--key-file and --secret-file were given; use one of them")
        }
        guard keyID?.isEmpty != true, key?.isEmpty != true else {
            throw ValidationError("--key and --key-id must not be empty")
        }
    }

    /// All keys, whose tokens a server takes. Reads the file each time.
    func loadKeys() throws -> [TokenKey] {
        if let keyFile { try Self.keys(of: keyFile) } else { [try loadSecret()] }
    }

    /// The key that signs.
    func load() throws -> TokenKey {
        let keys = try loadKeys()
        if let key = keys.first(where: { $0.name == keyID ?? issuer }) { return key }
        guard keyID == nil, keys.count == 1 else {
            let names = keys.map { "'\($0.name)'" }.joined(separator: ", ")
            throw Failure(.usage, "the key file has no key '\(keyID ?? issuer)'; choose one of \(names) with --key-id")
        }
        return keys[0]
    }

    /// What signs: in the name of `--key`, and where that is not the key's own name or `--key-id` was given, with the
    /// key's in the header.
    func loadIssuer() throws -> TokenIssuer {
        let signing = try load()
        return TokenIssuer(key: signing, issuer: keyID == nil && signing.name == issuer ? nil : issuer)
    }

    // MARK: A file with keys

    private static func keys(of path: String) throws -> [TokenKey] {
        // One byte more, which tells that it is too long.
        let file = try SecretFile(path, limit: TokenKeyFile.sizeLimit + 1, kind: "key file", option: "--key-file")
        guard !file.isOpenToAll else {
            throw Failure(
                .permissionDenied,
                "every user of this machine can get at the keys in '\(path)', and so make tokens for any room: chmod 600 it, and change the keys"
            )
        }
        do throws(TokenKeyFileError) {
            return try TokenKeyFile.keys(in: file.bytes)
        } catch {
            throw Failure(.inputUnusable, "the key file '\(path)' \(reason(error))")
        }
    }

    private static func reason(_ error: TokenKeyFileError) -> String {
        switch error {
        case .malformed(let line):
            "is wrong in line \(line): write 'name: secret' without quotes or white space in either"
        case .secretTooShort(let line):
            "has a secret of less than \(TokenKey.minimumSecretSize) bytes in line \(line): 'openssl rand -hex 32' makes a good one"
        case .repeatedName(let line): "has the name in line \(line) twice; each key needs its own"
        case .noKeys: "has no keys; write 'name: secret' a line"
        case .tooLong: "is longer than \(TokenKeyFile.sizeLimit) bytes or \(TokenKeyFile.keyLimit) keys"
        }
    }

    // MARK: One secret

    private func loadSecret() throws -> TokenKey {
        let secret: [UInt8]
        var isOpenToAll = false
        if let secretFile {
            let file = try SecretFile(
                secretFile, limit: Self.longest, firstLine: true, kind: "secret file", option: "--secret-file")
            (secret, isOpenToAll) = (try Self.text(of: file, at: secretFile), file.isOpenToAll)
        } else if let value = Environment.value("DUPLEX_ROOM_SECRET") {
            secret = Array(value.utf8)
        } else {
            throw Failure(
                .usage,
                "no secret to sign tokens with; make one with '(umask 077; openssl rand -hex 32 > secret)' and pass --secret-file secret"
            )
        }
        do {
            let key = try TokenKey(name: keyID ?? issuer, secret: secret)
            if let secretFile, isOpenToAll {
                Console.complain(
                    "warning: every user of this machine can read the secret file '\(secretFile)', and so make tokens for any room: chmod 600 it"
                )
            }
            return key
        } catch {
            throw Failure(
                .inputUnusable,
                "the secret has \(secret.count) bytes; at least \(TokenKey.minimumSecretSize) are needed: 'openssl rand -hex 32'"
            )
        }
    }

    /// The first line without the white space around it.
    private static func text(of file: SecretFile, at path: String) throws -> [UInt8] {
        guard !file.bytes.contains(where: { $0 < 0x20 && $0 != 0x09 && $0 != 0x0D }) else {
            throw Failure(
                .inputUnusable, "the secret file '\(path)' holds no text; make one with 'openssl rand -hex 32 > secret'"
            )
        }
        return Array(String(decoding: file.bytes, as: UTF8.self).trimmed.utf8)
    }
}
