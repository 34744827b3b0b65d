import Foundation
import Testing

@Suite(
    "A server that is told to read its files again", .timeLimit(.minutes(3)),
    .enabled(if: TestAuthority.isAvailable, "needs the openssl program"))
struct RoomReloadLiveTests {
    /// A server on localhost with keys and a certificate in files, which are written anew.
    private struct Served {
        let folder: TestFolder
        let authorities: [TestAuthority]
        private let identities: [TestAuthority.Identity]
        private let folders: [TestFolder]
        private(set) var server: ChildProcess
        let url: String

        init() throws {
            folder = try TestFolder()
            folders = try [TestFolder(), TestFolder()]
            authorities = try folders.map { try TestAuthority(in: $0) }
            identities = try authorities.map { try $0.sign("localhost", days: 30) }
            try Self.put(identities[0], key: "one", in: folder)
            try folder.speak("in.wav", seconds: 0.2, seed: 1)
            server = try ChildProcess([
                "room", "serve", "--address", "127.0.0.1", "--port", "0", "--host", "localhost", "--json",
                "--key-file", folder("keys"), "--certificate", folder("cert.pem"), "--private-key", folder("cert.key"),
            ])
            url = try #require(try server.event("listening")["url"] as? String)
        }

        /// Others in place of the files that are there, which the server is told to read, and says that it has.
        mutating func replace() throws {
            try Self.put(identities[1], key: "two", in: folder)
            server.hangUp()
            let told = try server.event("reloaded")["detail"] as? String
            #expect(told == "read again: the certificate and 1 key")
        }

        private static func put(_ identity: TestAuthority.Identity, key: String, in folder: TestFolder) throws {
            let secret = String(repeating: key, count: 12)
            let files = [
                ("keys", Data("\(key): \(secret)\n".utf8)),
                ("cert.pem", try Data(contentsOf: URL(filePath: identity.certificate))),
                ("cert.key", try Data(contentsOf: URL(filePath: identity.key))),
            ]
            for (name, bytes) in files {
                try bytes.write(to: URL(filePath: folder(name)), options: .atomic)
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder(name))
            }
        }

        /// A token of the key that is in the file now.
        func token(_ identity: String) throws -> String {
            let result = try ChildProcess.run([
                "room", "token", "--room", "r", "--identity", identity, "--key-file", folder("keys"),
            ])
            try #require(result.exitCode == 0, "\(result.standardError)")
            return result.standardOutput.trimmingCharacters(in: .newlines)
        }

        /// A call by somebody who trusts one of the authorities and nobody else.
        func call(_ token: String, trusting authority: TestAuthority, _ input: String = "in.wav") throws -> ChildProcess
        {
            try ChildProcess(
                ["call", "--server", url, "--token", token, "--json", "--input", folder(input)],
                environment: ["SSL_CERT_FILE": authority.certificate, "SSL_CERT_DIR": folder.path])
        }
    }

    @Test("takes new keys by 'kid' and shows the new certificate; the old ones open nothing more, and calls go on")
    func reload() throws {
        // Given a call under the first key and the first certificate
        var served = try Served()
        let (first, second) = (served.authorities[0], served.authorities[1])
        let old = try served.token("a")
        #expect(try served.call(old, trusting: first).wait().exitCode == 0)
        expectFailure(
            try served.call(old, trusting: second).wait(), code: 77,
            saying: "no authority has signed the server's certificate")
        try served.folder.speak("long.wav", seconds: 60, seed: 2)
        var long = try served.call(try served.token("b"), trusting: first, "long.wav")
        _ = try long.event("joined")
        // When the files are others, and the server is told
        try served.replace()
        let new = try served.token("c")
        var welcome = try served.call(new, trusting: second).wait()
        // The server's thread may take the certificate later than the first call
        for _ in 0..<20 where welcome.exitCode != 0 { welcome = try served.call(new, trusting: second).wait() }
        // Then who trusts the second authority comes in with a token of the second key
        #expect(welcome.exitCode == 0, "\(welcome.standardError)")
        // And neither is the first certificate shown, nor the first key taken
        expectFailure(
            try served.call(new, trusting: first).wait(), code: 77,
            saying: "no authority has signed the server's certificate")
        expectFailure(
            try served.call(old, trusting: second).wait(), code: 77, saying: "not signed with this server's")
        // And the call that was there has gone on, until somebody ends it
        #expect(long.isRunning)
        long.interrupt()
        let result = long.wait()
        #expect(result.exitCode == 0, "\(result.standardError)")
        served.server.interrupt()
        let ended = served.server.wait()
        #expect(ended.exitCode == 0 && ended.standardError.isEmpty, "\(ended.standardError)")
    }
}
