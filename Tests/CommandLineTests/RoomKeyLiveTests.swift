import Foundation
import Testing
import VoiceEngine
import VoiceRooms
import VoiceTransport

@Suite("Keys of rooms from the command line")
struct RoomKeyLiveTests {
    private static let (a, b) = (String(repeating: "a", count: 32), String(repeating: "b", count: 32))
    private static let token = ["room", "token", "--room", "r", "--identity", "anna"]

    private static func keyFile(in folder: TestFolder, _ text: String, mode: Int = 0o600) throws -> String {
        let path = try folder.write(Array(text.utf8), to: "keys")
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    /// What a verifier with these keys grants the token that the command printed.
    private static func verdict(
        _ result: ChildProcess.Result, _ keys: [(name: String, secret: String)]
    ) throws -> TokenVerdict {
        #expect(result.exitCode == 0, "\(result.standardError)")
        let verifier = TokenVerifier(
            keys: try keys.map { try TokenKey(name: $0.name, secret: Array($0.secret.utf8)) })
        let token = Array(result.standardOutput.trimmingCharacters(in: .newlines).utf8)
        return verifier.verdict(on: token, unixTime: Int64(Date().timeIntervalSince1970))
    }

    private static func isGranted(
        _ result: ChildProcess.Result, _ keys: [(name: String, secret: String)]
    ) throws -> Bool {
        if case .granted(let grants) = try verdict(result, keys) { return grants.identity == "anna" }
        return false
    }

    @Test("a token is of the key that was chosen, by its issuer's name or by the header")
    func choice() throws {
        let folder = try TestFolder()
        let file = try Self.keyFile(in: folder, "# two\nold: \(Self.a)\nnew: \(Self.b)\n")
        let (old, new) = (("old", Self.a), ("new", Self.b))
        let named = try ChildProcess.run(Self.token + ["--key-file", file, "--key", "old"])
        #expect(try Self.isGranted(named, [old, new]) && !Self.isGranted(named, [new]))
        let header = try ChildProcess.run(Self.token + ["--key-file", file, "--key-id", "new"])
        #expect(try Self.isGranted(header, [old, new]) && !Self.isGranted(header, [old]))
        let neither = try ChildProcess.run(Self.token + ["--key-file", file])
        expectFailure(neither, code: 64, saying: "choose one of 'old', 'new' with --key-id")
        let unknown = try ChildProcess.run(Self.token + ["--key-file", file, "--key-id", "third"])
        expectFailure(unknown, code: 64, saying: "no key 'third'")
        // A file with one key needs no choice; a secret has the name that it is given.
        let one = try Self.keyFile(in: folder, "new: \(Self.b)")
        #expect(try Self.isGranted(ChildProcess.run(Self.token + ["--key-file", one]), [new]))
        let secret = try ChildProcess.run(Self.token + ["--secret-file", folder.secret, "--key-id", "it"])
        #expect(try Self.isGranted(secret, [("it", "0123456789abcdef0123456789abcdef")]))
        #expect(try !Self.isGranted(secret, [("duplex", "0123456789abcdef0123456789abcdef")]))
    }

    @Test("metadata is in the token, and bounded")
    func metadata() throws {
        let folder = try TestFolder()
        let arguments = Self.token + ["--secret-file", folder.secret, "--metadata"]
        let text = #"{"seat":"12 \"left\""}"#
        let result = try ChildProcess.run(arguments + [text])
        let verdict = try Self.verdict(result, [("duplex", "0123456789abcdef0123456789abcdef")])
        guard case .granted(let grants) = verdict else {
            Issue.record("\(verdict)")
            return
        }
        #expect(grants.metadata == text)
        let json = try ChildProcess.run(arguments + [text, "--json"])
        #expect(json.json?.last?["metadata"] as? String == text)
        let long = try ChildProcess.run(arguments + [String(repeating: "m", count: 513)])
        expectFailure(long, code: 64, saying: "--metadata has 513 bytes; use at most 512")
    }

    @Test("a key file that others can read or that is wrong is refused, without a word of what is in it")
    func refused() throws {
        let folder = try TestFolder()
        let cases: [(text: String, mode: Int, code: Int32, saying: String)] = [
            ("k: \(Self.a)", 0o604, 77, "every user of this machine can get at the keys"),
            ("k: \(Self.a)", 0o602, 77, "chmod 600"),
            ("k: \(Self.a)\n\(Self.b)", 0o600, 66, "is wrong in line 2"),
            ("k: \(Self.a.dropLast())", 0o600, 66, "less than 32 bytes in line 1"),
            ("k: \(Self.a)\nk: \(Self.b)", 0o600, 66, "has the name in line 2 twice"),
            ("# none", 0o600, 66, "has no keys"), (String(repeating: "#", count: 70_000), 0o600, 66, "is longer than"),
        ]
        for (text, mode, code, saying) in cases {
            let file = try Self.keyFile(in: folder, text, mode: mode)
            let result = try ChildProcess.run(Self.token + ["--key-file", file, "--key", "k"])
            expectFailure(result, code: code, saying: saying)
            for letters in ["aaaa", "bbbb"] { #expect(!result.standardError.contains(letters)) }
        }
        let missing = try ChildProcess.run(Self.token + ["--key-file", folder("nothing")])
        expectFailure(missing, code: 66, saying: "cannot be read")
        let both = try ChildProcess.run(
            Self.token + ["--key-file", folder("keys"), "--secret-file", folder.secret])
        expectFailure(both, code: 64, saying: "use one of them")
    }

    @Test("a group's key file is taken, and its owner's")
    func modes() throws {
        let folder = try TestFolder()
        for mode in [0o400, 0o600, 0o640] {
            let file = try Self.keyFile(in: folder, "k: \(Self.a)", mode: mode)
            let result = try ChildProcess.run(Self.token + ["--key-file", file])
            #expect(result.exitCode == 0 && result.standardError.isEmpty, "\(result.standardError)")
            try FileManager.default.removeItem(atPath: file)
        }
    }
}
