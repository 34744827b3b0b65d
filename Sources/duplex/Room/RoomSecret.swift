import ArgumentParser
import Foundation

/// Where the key that signs tokens comes from. Never from the command line, which every user of the machine can read.
struct RoomSecret: ParsableArguments {
    @Option(help: "A file whose first line is the secret that signs tokens; or set DUPLEX_ROOM_SECRET.")
    var secretFile: String?

    /// HS256 wants a key at least as long as its hash (RFC 7518, section 3.2).
    static let shortest = 32

    /// The secret's bytes.
    func load() throws -> [UInt8] {
        let text: String
        if let secretFile {
            guard let content = try? String(contentsOfFile: secretFile, encoding: .utf8) else {
                throw Failure(.inputUnusable, "the secret file \(secretFile) cannot be read; check its path and permissions")
            }
            text = content.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
        } else if let value = ProcessInfo.processInfo.environment["DUPLEX_ROOM_SECRET"] {
            text = value
        } else {
            throw Failure(
                .inputUnusable,
                "no secret to sign tokens with; make one with 'openssl rand -hex 32 > secret' and pass --secret-file secret")
        }
        guard text.utf8.count >= Self.shortest else {
            throw Failure(
                .inputUnusable,
                "the secret has \(text.utf8.count) bytes; HS256 needs at least \(Self.shortest): 'openssl rand -hex 32'")
        }
        return Array(text.utf8)
    }
}
