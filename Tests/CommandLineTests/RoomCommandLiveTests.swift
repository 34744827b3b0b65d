import Foundation
import Testing
import VoiceEngine

@testable import duplex

@Suite("Rooms from the command line")
struct RoomCommandLiveTests {
    @Test("a token as JSON says what it grants and until when")
    func token() throws {
        let folder = try TestFolder()
        let arguments = [
            "room", "token", "--room", "r", "--identity", "bob", "--name", "Bob", "--valid-seconds", "60",
            "--listen-only",
            "--secret-file", folder.secret,
        ]
        let plain = try ChildProcess.run(arguments)
        #expect(plain.standardOutput.split(separator: ".").count == 3)
        let result = try ChildProcess.run(arguments + ["--json"])
        #expect(result.exitCode == 0, "\(result.standardError)")
        let line = try #require(result.json?.last)
        #expect(line["schema"] as? String == "duplexvoice.room.token/1" && line["type"] as? String == "summary")
        #expect((line["token"] as? String)?.split(separator: ".").count == 3)
        #expect(
            line["room"] as? String == "r" && line["identity"] as? String == "bob" && line["name"] as? String == "Bob")
        #expect(line["can_publish"] as? Bool == false)
        let (begins, ends) = (try #require(line["not_before"] as? Int), try #require(line["expires"] as? Int))
        #expect(ends - begins == 60)
    }

    @Test("a secret that everybody can read is warned of, one of one's own is not")
    func secrets() throws {
        let folder = try TestFolder()
        let arguments = ["room", "token", "--room", "r", "--identity", "a", "--secret-file", folder.secret]
        #expect(try ChildProcess.run(arguments).standardError.isEmpty)
        for mode in [0o644, 0o604] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.secret)
            let result = try ChildProcess.run(arguments)
            #expect(result.exitCode == 0)
            #expect(result.standardError.hasPrefix("warning: every user of this machine can read the secret file"))
        }
    }

    @Test("a server that is asked says how it does, and goes on", arguments: [true, false])
    func statistics(json: Bool) throws {
        // Given a server that listens
        let folder = try TestFolder()
        var server = try ChildProcess(
            ["room", "serve", "--address", "127.0.0.1", "--port", "0", "--state", folder("state")]
                + ["--secret-file", folder.secret] + (json ? ["--json"] : []))
        if json { _ = try server.event("listening") } else { _ = server.nextLine() }
        // When it is asked, twice
        for _ in 0..<2 {
            server.ask()
            if json {
                let told = try server.event("statistics")
                #expect(told["schema"] as? String == "duplexvoice.room.serve/1")
                for name in [
                    "rooms", "participants", "longest_queue", "packets_received", "packets_forwarded",
                    "packets_not_sent", "datagrams_rejected", "joins_refused",
                ] {
                    #expect(told[name] as? Int == 0, "\(name)")
                }
            } else {
                let line = server.nextLine()
                #expect(line?.hasPrefix("0 participants in 0 rooms; received 0 packets, forwarded 0,") == true)
            }
        }
        // Then it is there until it is ended
        server.interrupt()
        #expect(server.wait().exitCode == 0)
    }

    @Test("a server that is to says again and again how it does")
    func statisticsInterval() throws {
        let folder = try TestFolder()
        var server = try ChildProcess(
            ["room", "serve", "--address", "127.0.0.1", "--port", "0", "--state", folder("state"), "--json"]
                + ["--secret-file", folder.secret, "--statistics-interval", "1"])
        _ = try server.event("listening")
        for _ in 0..<2 { #expect(try server.event("statistics")["participants"] as? Int == 0) }
        server.interrupt()
        #expect(server.wait().exitCode == 0)
    }

    @Test("localhost is served and called")
    func localhost() throws {
        let folder = try TestFolder()
        let server = try RunningServer(in: folder, address: "localhost")
        #expect(server.url.hasPrefix("duplex://localhost:"))
        try folder.speak("in.wav", seconds: 0.2, seed: 1)
        let call = try ChildProcess.run(server.call(token: try server.token("a"), "--input", folder("in.wav")))
        #expect(call.exitCode == 0, "\(call.standardError)")
        _ = server.stop()
    }

    @Test("whoever is interrupted is told so, and not by a number")
    func interrupted() {
        let (own, agent, bob) = (ParticipantID(rawValue: 1), ParticipantID(rawValue: 2), ParticipantID(rawValue: 3))
        func names(_ participant: ParticipantID) -> String { participant == agent ? "agent" : "bob" }
        func told(_ talker: ParticipantID, by participant: ParticipantID) -> CallEvent {
            CallEvent(.interrupted(talker, by: participant, generation: 1), own: own, name: names)
        }
        let mine = told(own, by: agent)
        #expect(mine.detail == "agent interrupted you")
        #expect(mine.isOwn == true && mine.by == "agent" && mine.participant == nil)
        let other = told(bob, by: own)
        #expect(other.detail == "you interrupted bob")
        #expect(other.isOwn == false && other.by == nil && other.participant == "bob")
        #expect(told(agent, by: agent).detail == "agent interrupted what was said before")
    }
}
