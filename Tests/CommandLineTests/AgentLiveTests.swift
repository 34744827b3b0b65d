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
        let said = ["tell me a story", "where did you stop"]
        // What the participant heard: the story behind the question, and nothing while it asks again.
        func heard() throws -> (before: Float, story: Float, cut: Float) {
            let heard = try AudioFile.read(folder("out.wav")).samples
            func level(_ seconds: Range<Double>) -> Float {
                let places = (Int(seconds.lowerBound * 48_000)..<Int(seconds.upperBound * 48_000)).clamped(
                    to: heard.indices)
                return heard[places].map(abs).max() ?? 0
            }
            return (level(0..<2), level(3.5..<5.5), level(7..<7.4))
        }
        let talk = try attempted(until: { $0.recognised == said && (try? heard().cut < 0.01) == true }) {
            var agent = try ChildProcess([
                "agent", "--server", server.url, "--token", try server.token("agent"), "--offline", "--json",
            ])
            _ = try agent.event("ready")
            let call = try ChildProcess.run(
                server.call(
                    token: try server.token("me"), "--input", folder("in.wav"), "--output", folder("out.wav")),
                limit: 60)
            #expect(call.exitCode == 0, "\(call.standardError)")
            agent.interrupt()
            return agent.wait()
        }
        #expect(talk.exitCode == 0, "\(talk.standardError)")
        let events = try #require(talk.json)
        #expect(talk.recognised == said)
        let answers = events.filter { $0["type"] as? String == "answered" }
        #expect(answers.first?["end"] as? String == "interrupted", "\(answers)")
        #expect((answers.first?["said"] as? String)?.hasPrefix("Once upon a time") == true)
        let (before, story, cut) = try heard()
        #expect(before < 0.01 && story > 0.05 && cut < 0.01, "\(before), \(story), \(cut)")
        _ = server.stop()
    }

    @Test(
        "Given two agents in a room, when a participant speaks, then each answers once, and neither answers the other")
    func twoAgents() throws {
        let folder = try TestFolder()
        let server = try RunningServer(in: folder)
        try TalkLiveTests.say([.silence(1), .text("say hello"), .silence(8)], to: folder("in.wav"))
        var talks: [ChildProcess.Result] = []
        // Again where a busy machine has made two turns of it, or lost it
        for _ in 0..<4 where talks.isEmpty || talks.contains(where: { $0.recognised.count != 1 }) {
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
            talks = agents.map { agent in
                agent.interrupt()
                return agent.wait()
            }
        }
        for talk in talks {
            #expect(talk.exitCode == 0, "\(talk.standardError)")
            // What it is taken for does not matter here
            #expect(talk.recognised.count == 1, "\(talk.recognised)")
            #expect(talk.json?.filter { $0["type"] as? String == "answered" }.count == 1)
        }
        _ = server.stop()
    }
}
