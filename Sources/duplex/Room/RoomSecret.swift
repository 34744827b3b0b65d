import ArgumentParser
import Foundation
import VoiceTransport

/// Where the key that signs tokens comes from. Never from the command line, which every user of the machine can read.
struct RoomSecret: ParsableArguments {
    @Option(
        help: "A file whose first line is the secret that signs tokens; or set DUPLEX_ROOM_SECRET.", completion: .file()
    )
    var secretFile: String?

    @Option(help: "The key's name, the tokens' issuer.")
    var key = "duplex"

    /// More than any secret; what follows is not read.
    private static let longest = 4_096

    /// The key with its secret.
    func load() throws -> TokenKey {
        let secret: [UInt8]
        if let secretFile {
            secret = try Self.firstLine(of: secretFile)
        } else if let value = ProcessInfo.processInfo.environment["DUPLEX_ROOM_SECRET"] {
            secret = Array(value.utf8)
        } else {
            throw Failure(
                .usage,
                "no secret to sign tokens with; make one with '(umask 077; openssl rand -hex 32 > secret)' and pass --secret-file secret"
            )
        }
        do {
            let key = try TokenKey(name: key, secret: secret)
            if let secretFile, Self.isReadByAll(secretFile) {
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
    private static func firstLine(of path: String) throws -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(path, errno) }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: longest)
        var count = 0
        while count < longest {
            let read = unsafe bytes.withUnsafeMutableBytes {
                let room = unsafe UnsafeMutableRawBufferPointer(rebasing: $0[count...])
                return unsafe Glibc.read(descriptor, room.baseAddress, room.count)
            }
            if read < 0, errno == EINTR { continue }
            guard read >= 0 else { throw unreadable(path, errno) }
            if read == 0 { break }
            count += read
            if bytes[..<count].contains(0x0A) { break }
        }
        let line = bytes[..<count].prefix { $0 != 0x0A }
        guard !line.contains(where: { $0 < 0x20 && $0 != 0x09 && $0 != 0x0D }) else {
            throw Failure(
                .inputUnusable, "the secret file '\(path)' holds no text; make one with 'openssl rand -hex 32 > secret'"
            )
        }
        return Array(String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines).utf8)
    }

    /// Of a file; what comes through a pipe is whose it is.
    private static func isReadByAll(_ path: String) -> Bool {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return false }
        return status.st_mode & S_IFMT == S_IFREG && status.st_mode & S_IROTH != 0
    }

    private static func unreadable(_ path: String, _ number: Int32) -> Failure {
        let isForbidden = number == EACCES || number == EPERM
        return Failure(
            isForbidden ? .permissionDenied : .inputUnusable,
            "the secret file '\(path)' cannot be read: \(systemReason(number)); check --secret-file")
    }
}
