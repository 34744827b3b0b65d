import ArgumentParser
import Glibc
import Synchronization
import VoiceEngine
import VoiceRooms

/// Where the token comes from that opens a room to a call.
struct CallToken: ParsableArguments {
    @Option(help: "The access token; or set DUPLEX_TOKEN, which other users of this machine cannot read.")
    var token: String?
    @Option(
        help:
            "A file whose first line is the access token. A new one there is taken before the old one is over, and the call goes on.",
        completion: .file())
    var tokenFile: String?

    func validate() throws {
        guard token == nil || tokenFile == nil else {
            throw ValidationError("--token and --token-file were given; use one of them")
        }
    }

    /// The room's server, and the token or who gives one.
    func endpoint(_ url: String) throws -> RoomEndpoint {
        let file = try tokenFile.map { try TokenFile($0) }
        let token = file == nil ? try given() : ""
        do throws(RoomEndpointError) {
            if let file { return try RoomEndpoint(url: url) { try await file.next() } }
            return try RoomEndpoint(url: url, token: token)
        } catch {
            switch error {
            case .malformedURL(_, let fault): throw Failure(.usage, "--server is '\(url)': \(fault)")
            case .tokenTooLong: throw Self.tooLong
            }
        }
    }

    private func given() throws -> String {
        guard let token = token ?? Environment.value("DUPLEX_TOKEN"), !token.isEmpty else {
            throw Failure(
                .usage,
                "no token; get one with 'duplex room token --room R --identity YOU' and pass --token or --token-file, or set DUPLEX_TOKEN"
            )
        }
        return token
    }

    fileprivate static let tooLong = Failure(
        .inputUnusable, "the token is longer than a server takes; get one with fewer claims")
}

/// A file with an access token, which somebody else writes anew before the token is over.
final class TokenFile: Sendable {
    /// How often it is looked whether there is another token: nobody waits who has one that is good.
    private static let period = Duration.milliseconds(250)

    private let path: String
    private let given = Mutex<String?>(nil)

    /// Looks at the file before anybody is called, and says what is wrong with it. Blocks.
    init(_ path: String) throws {
        self.path = path
        let (token, isOpenToAll) = try Self.read(path)
        guard token.utf8.count <= RoomProtocol.tokenLimit else { throw CallToken.tooLong }
        guard !token.isEmpty else {
            throw Failure(
                .inputUnusable,
                "the token file '\(path)' is empty; write one there with 'duplex room token --room R --identity YOU'")
        }
        if isOpenToAll {
            Console.complain(
                "warning: every user of this machine can get at the token in '\(path)', and so join in your name: chmod 600 it"
            )
        }
    }

    /// The token that is there; once one was given, the next that is another. Waits for that until the task is
    /// cancelled.
    func next() async throws -> String {
        while true {
            // Where it cannot be read, somebody may just be writing it anew.
            if let token = try? Self.read(path).token, !token.isEmpty, take(token) { return token }
            try await Task.sleep(for: Self.period)
        }
    }

    private func take(_ token: String) -> Bool {
        given.withLock { given in
            defer { given = token }
            return given != token
        }
    }

    private static func read(_ path: String) throws -> (token: String, isOpenToAll: Bool) {
        let file = try SecretFile(
            path, limit: RoomProtocol.tokenLimit + 2, firstLine: true, kind: "token file", option: "--token-file")
        let text = String(decoding: file.bytes, as: UTF8.self).trimmed
        return (text, file.isOpenToAll)
    }
}
