import Foundation
import Testing

/// A room server as a child process, and the tokens for it.
struct RunningServer {
    private var child: ChildProcess
    let folder: TestFolder
    let url: String
    let port: UInt16

    /// - Parameters:
    ///   - identity: a certificate for localhost; without, the server makes its own.
    ///   - prefix: where it runs, see ``ChildProcess``.
    init(
        in folder: TestFolder, address: String = "127.0.0.1", port: UInt16 = 0,
        identity: TestAuthority.Identity? = nil, through prefix: [String] = []
    ) throws {
        self.folder = folder
        let shown =
            identity.map {
                ["--certificate", $0.certificate, "--private-key", $0.key, "--host", "localhost"]
            } ?? ["--state", folder("state")]
        child = try ChildProcess(
            ["room", "serve", "--address", address, "--port", "\(port)", "--secret-file", folder.secret, "--json"]
                + shown, through: prefix)
        let listening = try child.event("listening")
        url = try #require(listening["url"] as? String)
        self.port = UInt16(try #require(listening["port"] as? Int))
    }

    func token(_ identity: String, _ more: String...) throws -> String {
        let arguments = ["room", "token", "--room", "r", "--identity", identity, "--secret-file", folder.secret] + more
        let result = try ChildProcess.run(arguments)
        try #require(result.exitCode == 0, "\(result.standardError)")
        return result.standardOutput.trimmingCharacters(in: .newlines)
    }

    /// The arguments of a call to this server.
    func call(token: String, _ more: String...) -> [String] {
        ["call", "--server", url, "--token", token, "--json"] + more
    }

    /// Ends the server as a service manager does that will start it again.
    func terminate() -> ChildProcess.Result {
        child.terminate()
        return child.wait()
    }

    /// Ends the server as Control-C does.
    func stop() -> ChildProcess.Result {
        child.interrupt()
        return child.wait()
    }
}
