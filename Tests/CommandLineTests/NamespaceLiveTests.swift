import Foundation
import Testing
import VoiceDevices

@Suite(
    "Two machines in a room on a third", .timeLimit(.minutes(3)), .serialized,
    .enabled(if: TestNetwork.obstacle == nil, "\(TestNetwork.obstacle ?? "")"))
struct NamespaceLiveTests {
    @Test(
        "each hears the other, by the URL that the server prints; who asks where no server is gives up after its time")
    func call() throws {
        // Given a server in the middle, which listens on one of its addresses
        let network = try TestNetwork()
        let folder = try TestFolder()
        // And somebody who calls a port where none is, for the 10 s that the others talk
        try folder.speak("in.wav", seconds: 0.2, seed: 3)
        let zeros = String(repeating: "0", count: 64)
        let lost = try ChildProcess(
            [
                "call", "--server", "duplex://\(network.address):7900/?fingerprint=sha256:\(zeros)", "--token", "t",
                "--input", folder("in.wav"),
            ], through: network.command(in: .left))
        let server = try RunningServer(in: folder, address: network.address, through: network.command(in: .middle))
        #expect(server.url.hasPrefix("duplex://\(network.address):\(server.port)/?fingerprint=sha256:"))
        // When two call it from beyond it, with no word of how
        let calls = try [("anna", TestNetwork.Place.left), ("ben", .right)].enumerated().map { index, caller in
            let (name, place) = caller
            try folder.speak("\(name).wav", seconds: 10, seed: UInt64(index + 1))
            return try ChildProcess(
                [
                    "call", "--server", server.url, "--token", try server.token(name), "--input", folder("\(name).wav"),
                    "--output", folder("\(name)-heard.wav"),
                ], through: network.command(in: place))
        }
        for call in calls {
            let result = call.wait()
            #expect(result.exitCode == 0, "\(result.standardError)")
        }
        // Then each hears the other
        for name in ["anna-heard.wav", "ben-heard.wav"] {
            let heard = try AudioFile.read(folder(name)).samples
            #expect((heard.map(abs).max() ?? 0) > 0.01, "\(name) is silent")
        }
        let served = server.stop()
        #expect(served.exitCode == 0, "\(served.standardError)")
        expectFailure(lost.wait(), code: 69, saying: "no room server has answered for 10 s")
    }

    @Test("a server on all addresses is called by the one of its other side, and answers from there")
    func otherSide() throws {
        // Given a server that listens on all addresses
        let network = try TestNetwork()
        let folder = try TestFolder()
        let server = try RunningServer(in: folder, address: "0.0.0.0", through: network.command(in: .middle))
        let fingerprint = try #require(server.url.split(separator: "?").last)
        try folder.speak("in.wav", seconds: 0.5, seed: 1)
        // When it is called by the address of its cable to the other caller, which is not the one that it would answer
        // from by itself
        for (place, address) in [(TestNetwork.Place.left, network.otherAddress), (.right, network.address)] {
            let call = try ChildProcess(
                [
                    "call", "--server", "duplex://\(address):\(server.port)/?\(fingerprint)", "--token",
                    try server.token("\(place)"), "--input", folder("in.wav"),
                ], through: network.command(in: place))
            // Then the call comes about
            let result = call.wait()
            #expect(result.exitCode == 0, "\(place): \(result.standardError)")
        }
        _ = server.stop()
    }

    @Test("a server without protection is not called from another machine, nor served to it")
    func plaintext() throws {
        let network = try TestNetwork()
        let folder = try TestFolder()
        try folder.speak("in.wav", seconds: 0.2, seed: 1)
        let call = try ChildProcess(
            ["call", "--server", "udp://\(network.address):7900", "--token", "t", "--input", folder("in.wav")],
            through: network.command(in: .left))
        expectFailure(call.wait(), code: 77, saying: "--allow-plaintext")
        let server = try ChildProcess(
            [
                "room", "serve", "--plaintext", "--address", network.address, "--port", "0", "--secret-file",
                folder.secret,
            ],
            through: network.command(in: .middle))
        expectFailure(server.wait(), code: 77, saying: "--allow-plaintext")
    }
}
