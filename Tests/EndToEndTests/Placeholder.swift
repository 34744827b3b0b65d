import Testing
import VoiceEngine
import VoiceSimulation

@Test func aCallRuns() throws {
    var configuration = SimulatedCall.Configuration(talkers: [
        SpeechSource(SyntheticSpeech(seed: 1)), SpeechSource(SyntheticSpeech(seed: 2, voice: .low)),
    ])
    configuration.longest = .seconds(10)
    let call = try SimulatedCall(configuration)
    call.run(for: .seconds(10))
    print(call.events(.a), call.statistics(.a))
    let found = SignalAlignment(of: call.recording(.b).speaker.span, after: call.recording(.a).near.span, longestDelayFrames: 48000, weighting: .phaseTransform)
    print(found as Any)
}
