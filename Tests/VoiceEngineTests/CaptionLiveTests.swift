import Testing
import VoiceEngine

@Suite("Captions between engines", .timeLimit(.minutes(3)))
struct CaptionLiveTests {
    @Test("a listener's captions follow what comes out of its loudspeaker, to the end of the words")
    func captions() async throws {
        // Given two in a room
        let room = try LoopbackRoom()
        let (agent, user) = (try modestEngine(), try modestEngine())
        for engine in [agent, user] { try await engine.start() }
        try await user.join(room.endpoint("user"))
        try await agent.join(room.endpoint("agent"))
        let captions = user.captions
        // When one says an utterance, and where its words lie
        var track = CaptionTrack(utterance: 5)
        track.append("One two three four. ", from: .zero, to: .milliseconds(400))
        track.append("Five six.", from: .milliseconds(400), to: .milliseconds(600))
        try await agent.setCaptions(track, isWhole: true)
        try await agent.beginUtterance(5)
        // Then the words come as they are heard, each only once, until all were
        var heard = ""
        for await caption in captions {
            #expect(caption.caption.text == "One two three four. Five six.")
            #expect(caption.caption.heard.hasPrefix(heard))
            heard = caption.caption.heard
            if caption.caption.isFinal { break }
        }
        #expect(heard == "One two three four. Five six.")
        for engine in [agent, user] { await engine.stop() }
        room.close()
    }
}
