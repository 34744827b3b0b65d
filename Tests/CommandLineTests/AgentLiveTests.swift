import Foundation
import Testing
import VoiceDevices

@Suite("A partner in a room", .enabled(if: OfflinePrograms.areInstalled, "needs tools/setup --agent"))
struct AgentLiveTests {
    @Test(
        "Given an agent, when a participant asks it for a story and speaks into that, then it is heard in the room, and silent"
    )
    func story() throws {
        let folder = try TestFolder()
        let server = try RunningServer(in: folder)
        try TalkLiveTests.say(
            [.silence(1), .text("tell me a story"), .silence(4), .text("where did you stop"), .silence(1.5)],
            to: folder("in.wav"))
        var agent = try ChildProcess([
            "agent", "--server", server.url, "--token", try server.token("agent"), "--offline", "--json",
        ])
        _ = try agent.event("ready")
        let call = try ChildProcess.run(
            server.call(
                token: try server.token("me"), "--input", folder("in.wav"), "--output", folder("out.wav")), limit: 60)
        #expect(call.exitCode == 0, "\(call.standardError)")
        agent.interrupt()
        let talk = agent.wait()
        #expect(talk.exitCode == 0, "\(talk.standardError)")
        let events = try #require(talk.json)
        let texts = events.filter { $0["type"] as? String == "recognised" && $0["is_final"] as? Bool == true }
        #expect(texts.map { $0["text"] as? String } == ["tell me a story", "where did you stop"])
        let answers = events.filter { $0["type"] as? String == "answered" }
        #expect(answers.first?["end"] as? String == "interrupted", "\(answers)")
        #expect((answers.first?["said"] as? String)?.hasPrefix("Once upon a time") == true)
        // What the participant heard: the story behind the question, and nothing while it asks again.
        let heard = try AudioFile.read(folder("out.wav")).samples
        func level(_ seconds: Range<Double>) -> Float {
            let places = (Int(seconds.lowerBound * 48_000)..<Int(seconds.upperBound * 48_000)).clamped(
                to: heard.indices)
            return heard[places].map(abs).max() ?? 0
        }
        let (before, story, cut) = (level(0..<2), level(3.5..<5.5), level(7..<7.4))
        #expect(before < 0.01 && story > 0.05 && cut < 0.01, "\(before), \(story), \(cut)")
        _ = server.stop()
    }

    @Test(
        "Given two agents in a room, when a participant speaks, then each answers once, and neither answers the other")
    func twoAgents() throws {
        let folder = try TestFolder()
        let server = try RunningServer(in: folder)
        try TalkLiveTests.say([.silence(1), .text("say hello"), .silence(8)], to: folder("in.wav"))
        var agents = try ["first", "second"].map { name in
            try ChildProcess([
                "agent", "--server", server.url, "--token", try server.token(name), "--offline", "--json",
            ])
        }
        for index in agents.indices { _ = try agents[index].event("ready") }
        let call = try ChildProcess.run(
            server.call(token: try server.token("me"), "--input", folder("in.wav"), "--output", folder("out.wav")),
            limit: 60)
        #expect(call.exitCode == 0, "\(call.standardError)")
        for agent in agents {
            agent.interrupt()
            let talk = agent.wait()
            #expect(talk.exitCode == 0, "\(talk.standardError)")
            let events = try #require(talk.json)
            let texts = events.filter { $0["type"] as? String == "recognised" && $0["is_final"] as? Bool == true }
            // What it is taken for does not matter here
            #expect(texts.count == 1, "\(texts)")
            #expect(events.filter { $0["type"] as? String == "answered" }.count == 1)
        }
        _ = server.stop()
    }
}
