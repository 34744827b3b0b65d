// EchoAgent: talks back over ALSA's `default` until Control-C.
import VoiceEngine

let engine = VoiceEngine(.voiceAgent)
try await engine.start()
try await echo(on: engine)
