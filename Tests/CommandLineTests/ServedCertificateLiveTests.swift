import Foundation
import Testing

@Suite("A certificate that nobody can be served with")
struct ServedCertificateLiveTests {
    /// What serves with a certificate, and what else it needs.
    private static func servers(in folder: TestFolder) throws -> [[String]] {
        try folder.write(Array("bot: 0123456789abcdef-a-secret-key\n".utf8), to: "keys")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder("keys"))
        return [
            ["room", "serve", "--secret-file", folder.secret], ["serve-control", "--key-file", folder("keys")],
            ["serve-realtime"],
        ]
    }

    @Test("is refused with one exit status and one sentence by all that serve: no file, no certificate, a key for all")
    func refused() throws {
        let folder = try TestFolder()
        try folder.write(Array("no certificate\n".utf8), to: "words")
        try folder.write(Array("no key\n".utf8), to: "open")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder("words"))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder("open"))
        let cases: [(certificate: String, key: String, code: Int32, saying: String)] = [
            ("none", "none", 66, "cannot read '\(folder("none"))'"),
            ("words", "words", 66, "there is no certificate in '\(folder("words"))'"),
            ("words", "open", 77, "everybody may read the key in '\(folder("open"))'"),
        ]
        for server in try Self.servers(in: folder) {
            for (certificate, key, code, saying) in cases {
                let result = try ChildProcess.run(
                    server + [
                        "--port", "0", "--certificate", folder(certificate), "--private-key", folder(key),
                    ])
                expectFailure(result, code: code, saying: saying)
            }
        }
    }

    @Test(
        "is refused by all where its key is another's",
        .enabled(if: TestAuthority.isAvailable, "needs the openssl program"))
    func otherKey() throws {
        let folder = try TestFolder()
        let authority = try TestAuthority(in: folder)
        let (one, other) = (try authority.sign("localhost"), try authority.sign("elsewhere"))
        for server in try Self.servers(in: folder) {
            let result = try ChildProcess.run(
                server + ["--port", "0", "--certificate", one.certificate, "--private-key", other.key])
            expectFailure(result, code: 66, saying: "is not the certificate's")
        }
    }
}
