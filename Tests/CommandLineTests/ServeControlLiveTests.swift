import Foundation
import TestCases
import Testing

@Suite(
    "The control API as a command",
    .enabled(if: OfflinePrograms.areInstalled, "needs tools/setup --agent"))
struct ServeControlLiveTests {
    private static let key = "0123456789abcdef-a-secret-key"

    /// A file that its owner alone can read, unless told otherwise.
    private static func write(_ text: String, to path: String, mode: Int = 0o600) throws {
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    @Test(
        "Given no key, one that all can read, one that is none, or an address beyond this machine, then nothing is served"
    )
    func refusals() throws {
        let folder = try TestFolder()
        try Self.write("bot: \(Self.key)\n", to: folder("keys"))
        try Self.write("bot: \(Self.key)\n", to: folder("open"), mode: 0o644)
        try Self.write("bot: short\n", to: folder("short"))
        let cases: [([String], Int32)] = [
            ([], 64), (["--key-file", folder("open")], 77), (["--key-file", folder("short")], 66),
            (["--key-file", folder("none")], 66), (["--key-file", folder("keys"), "--address", "0.0.0.0"], 64),
        ]
        for (arguments, code) in cases {
            let result = try ChildProcess.run(["serve-control", "--port", "0"] + arguments)
            #expect(result.exitCode == code, "\(arguments): \(result.standardError)")
            #expect(!result.standardError.contains(Self.key) && !result.standardError.contains("short\n"))
        }
    }

    @Test("Given a key, then who brings it is served; the key and the tokens are in no output; Control-C ends it")
    func serves() throws {
        let folder = try TestFolder()
        try Self.write("bot: \(Self.key)\n", to: folder("keys"))
        var server = try ChildProcess([
            "serve-control", "--port", "0", "--key-file", folder("keys"), "--room-secret-file", folder.secret, "--json",
        ])
        let url = try #require(try server.event("listening")["url"] as? String)
        func ask(_ arguments: String...) throws -> String {
            try TestProgram.run("/usr/bin/curl", ["-s", "-w", " %{http_code}"] + arguments).text
        }
        let bearer = "Authorization: Bearer \(Self.key)"
        #expect(try ask("\(url)/v1/status").hasSuffix(" 401"))
        #expect(try ask("-H", bearer, "\(url)/v1/status").hasSuffix(" 200"))
        let token = try ask("-H", bearer, "--json", #"{"room":"r","identity":"i"}"#, "\(url)/v1/token")
        #expect(token.hasSuffix(" 200") && token.contains("eyJ"))
        #expect(try ask("-H", bearer, "--json", "{}", "\(url)/v1/sessions").hasSuffix(" 201"))
        server.interrupt()
        let served = server.wait()
        let output = served.standardOutput + served.standardError
        #expect(served.exitCode == 0 && served.json?.last?["sessions"] as? Int == 1, "\(output)")
        #expect(!output.contains(Self.key) && !output.contains("eyJ"))
    }
}
