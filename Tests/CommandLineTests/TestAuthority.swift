import Foundation
import TestCases
import Testing

/// A certificate authority of a test's own, and what it signs; by the `openssl` program, as an operator would have
/// them.
struct TestAuthority {
    static let isAvailable = FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl")

    /// A certificate and its key, in files.
    struct Identity {
        let certificate: String
        let key: String
    }

    private static let curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]

    let folder: TestFolder
    /// Its certificate.
    var certificate: String { folder("ca.pem") }

    init(in folder: TestFolder) throws {
        self.folder = folder
        try run(
            ["req", "-x509"] + Self.curve + [
                "-keyout", folder("ca.key"), "-out", certificate, "-days", "2", "-subj", "/CN=Test authority",
                "-addext", "keyUsage=critical,keyCertSign",
            ])
    }

    /// A certificate for a host that ends so many days from now.
    func sign(_ host: String, days: Int = 2) throws -> Identity {
        let name = "\(host)\(days)"
        let identity = Identity(certificate: folder(name + ".pem"), key: folder(name + ".key"))
        let request = folder(name + ".csr")
        let extensions = try folder.write(Array("subjectAltName=DNS:\(host)\n".utf8), to: name + ".ext")
        try run(["req", "-new"] + Self.curve + ["-keyout", identity.key, "-out", request, "-subj", "/CN=\(host)"])
        try run([
            "x509", "-req", "-in", request, "-CA", certificate, "-CAkey", folder("ca.key"), "-CAcreateserial", "-days",
            "\(days)", "-extfile", extensions, "-out", identity.certificate,
        ])
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: identity.key)
        return identity
    }

    private func run(_ arguments: [String]) throws {
        let ended = try TestProgram.run("/usr/bin/openssl", arguments)
        try #require(ended.status == 0, "openssl \(arguments.joined(separator: " ")): \(ended.complaint)")
    }
}
