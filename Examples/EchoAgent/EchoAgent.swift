import VoiceEngine

/// An agent in the engine's own process that says back what it hears, as soon as the speaker stops, until the engine stops.
func echo(on engine: VoiceEngine) async throws {
    let agent = try await engine.openFarEnd()
    var heard: [Float] = []
    var wasSpeaking = false
    var utterance: UInt32 = 0
    for await frame in agent.nearEnd(.milliseconds20) {
        heard += frame.samples
        let isSpeaking = try await engine.statistics().uplink.voiceActivity
        if wasSpeaking && !isSpeaking {
            utterance += 1
            await agent.play(heard, rate: .hertz16000, utterance: UtteranceID(rawValue: utterance))
            await agent.finish(UtteranceID(rawValue: utterance))
            heard = []
        } else if !isSpeaking {
            heard.removeFirst(max(heard.count - 8_000, 0))  // What comes before a word is known to be one
        }
        wasSpeaking = isSpeaking
    }
}
