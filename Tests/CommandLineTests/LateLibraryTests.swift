import Foundation
import Testing

@Suite("Libraries that are loaded when they are first used")
struct LateLibraryTests {
    private static let webSocketLibraries = (16...24).map { "libwebsockets.so.\($0)" }
    private static let captureLibraries = ["libpcap.so.0.8", "libpcap.so.1"]

    /// An environment in which these libraries cannot be loaded: the dynamic linker finds empty files of their names
    /// before anything else.
    private func environment(without libraries: [String], in folder: TestFolder) throws -> [String: String] {
        for name in libraries { try folder.write([], to: name) }
        return ["LD_LIBRARY_PATH": folder.path]
    }

    @Test("Given neither library, when a command runs that uses none, then it does its work")
    func unused() throws {
        let folder = try TestFolder()
        let environment = try environment(without: Self.webSocketLibraries + Self.captureLibraries, in: folder)
        try folder.speak("in.wav", seconds: 1, seed: 1)
        let result = try ChildProcess.run(["speech", folder("in.wav"), "--json"], environment: environment)
        #expect(result.exitCode == 0, "\(result.standardError)")
        #expect(result.json?.last?["type"] as? String == "summary")
    }

    @Test("Given no libpcap, when a capture is to be read, then it is said what to install, and no file is written")
    func captures() throws {
        let folder = try TestFolder()
        let environment = try environment(without: Self.captureLibraries, in: folder)
        let pcap = try folder.write([1, 2, 3], to: "call.pcap")
        let result = try ChildProcess.run(
            ["playout", "--pcap", pcap, "--out", folder("out.wav")], environment: environment)
        expectFailure(
            result, code: 69, saying: "libpcap, which reads captures, is not installed: apt install libpcap0.8")
        #expect(!FileManager.default.fileExists(atPath: folder("out.wav")))
    }

    @Test(
        "Given no libwebsockets, when a server is to be called or to listen, then it is said what to install",
        arguments: [
            ["talk", "--realtime", "ws://127.0.0.1:9/v1/realtime?model=m", "--input", "in.wav"],
            ["serve-realtime", "--port", "0"],
            ["serve-control", "--port", "0", "--key-file", "keys"],
        ])
    func webSockets(arguments: [String]) throws {
        let folder = try TestFolder()
        let environment = try environment(without: Self.webSocketLibraries, in: folder)
        try folder.speak("in.wav", seconds: 1, seed: 1)
        try folder.write(Array("bot: 0123456789abcdef\n".utf8), to: "keys")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder("keys"))
        let files: Set = ["in.wav", "keys"]
        let result = try ChildProcess.run(
            arguments.map { files.contains($0) ? folder($0) : $0 }, limit: 60, environment: environment)
        expectFailure(result, code: 69, saying: "is not installed: on Debian 12, apt install libwebsockets17")
        #expect(result.standardError.contains("libwebsockets 4."), "\(result.standardError)")
    }
}
