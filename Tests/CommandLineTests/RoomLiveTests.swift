import Foundation
import TestCases
import Testing

@Suite("A room that does not open says why")
struct RoomLiveTests {
    @Test("bad tokens")
    func tokens() throws {
        let folder = try TestFolder()
        let server = try RunningServer(in: folder)
        try folder.speak("in.wav", seconds: 0.2, seed: 1)
        let good = try server.token("a")
        let other = try folder.write(Array(String(repeating: "y", count: 32).utf8), to: "other")
        let foreign = try ChildProcess.run(["room", "token", "--room", "r", "--identity", "a", "--secret-file", other])
        let tokens: [(token: String, code: Int32, saying: String)] = [
            (try server.token("a", "--starts-in", "-60", "--valid-seconds", "5"), 77, "has expired"),
            (try server.token("a", "--starts-in", "100"), 77, "not valid yet"),
            (foreign.standardOutput.trimmingCharacters(in: .newlines), 77, "not signed with this server's"),
            (try server.token("a", "--key", "other"), 77, "not signed with this server's"),
            (unsigned(), 77, "not signed with this server's"),
            (String(good.prefix(60)), 66, "cannot be read"),
            ("hello", 66, "cannot be read"),
            (String(repeating: "x", count: 2_000), 66, "longer than a server takes"),
        ]
        for (token, code, saying) in tokens {
            let result = try ChildProcess.run(server.call(token: token, "--input", folder("in.wav")))
            expectFailure(result, code: code, saying: saying)
            #expect(result.json != nil)
        }
        _ = server.stop()
    }

    /// A token that says of itself that it needs no signature.
    private func unsigned() -> String {
        let parts = [
            #"{"alg":"none","typ":"JWT"}"#,
            #"{"iss":"duplex","sub":"eve","exp":99999999999,"video":{"room":"r","roomJoin":true}}"#,
        ]
        let encoded = parts.map {
            Data($0.utf8).base64EncodedString().replacing("=", with: "").replacing("+", with: "-").replacing(
                "/", with: "_")
        }
        return encoded.joined(separator: ".") + "."
    }

    @Test("a token that only listens: the call says that nothing is sent")
    func listening() throws {
        let folder = try TestFolder()
        let server = try RunningServer(in: folder)
        try folder.speak("in.wav", seconds: 1.6, seed: 1)
        let token = try server.token("a", "--listen-only")
        let result = try ChildProcess.run(server.call(token: token, "--input", folder("in.wav")))
        #expect(result.exitCode == 0)
        #expect(result.json?.contains { $0["type"] as? String == "warning" } == true)
        #expect(result.json?.last?["packets_sent"] as? Int == 0)
        _ = server.stop()
    }

    @Test("a server without file descriptors says so and ends; with a few more it serves")
    func descriptors() throws {
        let folder = try TestFolder()
        var (refused, isServing) = (0, false)
        for limit in 5..<60 where !isServing {
            let server = try TestProgram(
                "/bin/sh",
                [
                    "-c", "ulimit -n \(limit); exec \"$@\"", "sh", TestProgram.built("duplex"), "room", "serve",
                    "--port",
                    "0", "--secret-file", folder.secret, "--state", folder("state"), "--json",
                ], limit: .seconds(30))
            isServing = server.nextOutput() != nil
            // Whoever has said that it listens goes on
            if isServing {
                usleep(200_000)
                #expect(server.isRunning, "\(limit)")
                server.signal(SIGTERM)
            }
            let end = server.wait()
            #expect(isServing ? end.status == 0 : end.status > 0 && !end.errors.isEmpty, "\(limit): \(end)")
            refused += isServing ? 0 : 1
        }
        #expect(isServing && refused > 3, "\(refused)")
    }

    @Test("a server that is not told where to listen does at the addresses of both families")
    func everywhere() throws {
        let folder = try TestFolder()
        var server = try ChildProcess(
            ["room", "serve", "--port", "0", "--secret-file", folder.secret, "--state", folder("state"), "--json"])
        let listening = try server.event("listening")
        let descriptor = socket(AF_INET6, Int32(SOCK_DGRAM.rawValue), 0)
        if descriptor >= 0 { close(descriptor) }
        #expect(listening["address"] as? String == (descriptor >= 0 ? "::" : "0.0.0.0"))
        server.interrupt()
        #expect(server.wait().exitCode == 0)
    }

    @Test("servers that cannot serve")
    func servers() throws {
        let folder = try TestFolder()
        let server = try RunningServer(in: folder)
        let cases: [(arguments: [String], code: Int32, saying: String)] = [
            (["--port", "\(server.port)"], 69, "is in use"),
            (["--port", "0", "--address", "some.host"], 64, "no numeric address"),
            (["--port", "0", "--address", "192.0.2.1"], 69, "not an address of this machine"),
        ]
        for (arguments, code, saying) in cases {
            let serve = ["room", "serve", "--secret-file", folder.secret, "--state", folder("state")]
            expectFailure(try ChildProcess.run(serve + arguments), code: code, saying: saying)
        }
        let certificate = ["--certificate", folder("none.pem"), "--private-key", folder("none.pem")]
        let more: [(arguments: [String], code: Int32, saying: String)] = [
            (["--plaintext", "--address", "0.0.0.0"], 77, "--allow-plaintext"),
            (certificate, 66, "cannot read"),
            ([], 64, "neither XDG_STATE_HOME nor HOME is set"),
        ]
        for (arguments, code, saying) in more {
            let result = try ChildProcess.run(
                ["room", "serve", "--port", "0", "--secret-file", folder.secret] + arguments)
            expectFailure(result, code: code, saying: saying)
        }
        _ = server.stop()
    }

    @Test(
        "a server that cannot be called",
        arguments: [
            ("udp://192.0.2.1:7900", Int32(77), "--allow-plaintext"),
            ("udp://no-such-host.invalid:7900", 69, "no-such-host.invalid"),
        ])
    func unreachable(url: String, code: Int32, saying: String) throws {
        let folder = try TestFolder()
        try folder.speak("in.wav", seconds: 0.2, seed: 1)
        let result = try ChildProcess.run([
            "call", "--server", url, "--token", "t", "--input", folder("in.wav"), "--json",
        ])
        expectFailure(result, code: code, saying: saying)
    }

    @Test("nobody answers: given up after the stated 10 s, and the old recording is still there")
    func silence() throws {
        let folder = try TestFolder()
        try folder.write(Array("kept".utf8), to: "out.wav")
        try folder.speak("in.wav", seconds: 0.2, seed: 1)
        let result = try ChildProcess.run([
            "call", "--server", "udp://127.0.0.1:1", "--token", "t", "--input", folder("in.wav"), "--output",
            folder("out.wav"),
        ])
        expectFailure(result, code: 69, saying: "no room server has answered for 10 s")
        #expect(try Data(contentsOf: URL(filePath: folder("out.wav"))) == Data("kept".utf8))
    }

    @Test("Control-C while joining ends at once, and is no success")
    func interruptedJoin() throws {
        let folder = try TestFolder()
        try folder.speak("in.wav", seconds: 0.2, seed: 1)
        var call = try ChildProcess([
            "call", "--server", "udp://127.0.0.1:1", "--token", "t", "--input", folder("in.wav"), "--json",
        ])
        _ = try call.event("started")
        call.interrupt()
        expectFailure(call.wait(), code: 69, saying: "interrupted before the room was joined")
    }

    @Test("a call of so many seconds ends when they are over, and says so")
    func seconds() throws {
        let folder = try TestFolder()
        let server = try RunningServer(in: folder)
        try folder.speak("in.wav", seconds: 60, seed: 1)
        let call = server.call(token: try server.token("a"), "--input", folder("in.wav"), "--seconds", "0.3")
        let result = try ChildProcess.run(call)
        #expect(result.exitCode == 0, "\(result.standardError)")
        #expect(result.json?.last?["ending"] as? String == "time is up", "\(result.standardOutput)")
        _ = server.stop()
    }

    @Test("nobody else comes")
    func alone() throws {
        let folder = try TestFolder()
        let server = try RunningServer(in: folder)
        try folder.speak("in.wav", seconds: 0.2, seed: 1)
        let call = server.call(token: try server.token("a"), "--input", folder("in.wav"), "--wait", "0.3")
        expectFailure(try ChildProcess.run(call), code: 69, saying: "or wait longer by --wait")
        _ = server.stop()
    }

    @Test("a server that ends in the middle of a call ends the call")
    func shutDown() throws {
        let folder = try TestFolder()
        let server = try RunningServer(in: folder)
        try folder.speak("in.wav", seconds: 20, seed: 1)
        var call = try ChildProcess(
            server.call(token: try server.token("a"), "--input", folder("in.wav"), "--output", folder("out.wav")))
        _ = try call.event("speech_started")
        #expect(server.stop().exitCode == 0)
        let result = call.wait()
        expectFailure(result, code: 69, saying: "the server is shutting down")
        #expect(result.json?.last?["type"] as? String == "summary")
    }

    @Test("a server that SIGTERM ends: the call goes on with the one that takes its place")
    func restart() throws {
        let folder = try TestFolder()
        let place = LoopbackPlace()
        let server = try RunningServer(in: folder, address: place.host, port: place.port)
        try folder.speak("in.wav", seconds: 30, seed: 1)
        var call = try ChildProcess(
            server.call(token: try server.token("a"), "--input", folder("in.wav"), "--output", folder("out.wav")))
        _ = try call.event("speech_started")
        // When the server is restarted
        #expect(server.terminate().exitCode == 0)
        let next = try RunningServer(in: folder, address: place.host, port: place.port)
        // Then the call is back, and nobody had to do anything
        _ = try call.event("connection_lost")
        _ = try call.event("reconnected")
        call.interrupt()
        let result = call.wait()
        #expect(result.exitCode == 0, "\(result.standardError)")
        let served = next.stop()
        #expect(served.json?.contains { $0["type"] as? String == "participant_joined" } == true)
    }

    @Test("datagrams of anybody's making do not end a server", arguments: [UInt64(1), 2])
    func hostile(seed: UInt64) throws {
        let folder = try TestFolder()
        let server = try RunningServer(in: folder)
        sendNoise(to: server.port, seed: seed)
        try folder.speak("in.wav", seconds: 0.2, seed: 1)
        let result = try ChildProcess.run(server.call(token: try server.token("a"), "--input", folder("in.wav")))
        #expect(result.exitCode == 0, "seed \(seed): \(result.standardError)")
        let served = server.stop()
        #expect(served.exitCode == 0, "seed \(seed)")
        #expect((served.json?.last?["datagrams_rejected"] as? Int ?? 0) > 0, "seed \(seed)")
    }
}
