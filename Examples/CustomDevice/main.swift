// CustomDevice: calls into the well for five seconds, and prints by how much the canceller lowers what comes back.
import VoiceEngine

var configuration = EngineConfiguration.voiceAgent
configuration.device = .custom(EchoWell())
let engine = VoiceEngine(configuration)
_ = try await engine.start()
let farEnd = try await engine.openFarEnd()
var random = SystemRandomNumberGenerator()
// Noise that swells and fades twice a second.
let calls = (0..<240_000).map { frame in
    Float.random(in: -0.3...0.3, using: &random) * Float(min(frame % 24_000, 24_000 - frame % 24_000)) / 12_000
}
await farEnd.play(calls, utterance: 1)
var heard = 0
for await _ in farEnd.nearEnd() {
    heard += 1
    guard heard % 50 == 0 else { continue }
    let uplink = try await engine.statistics().uplink
    print(
        "\(heard)0 ms: microphone \(uplink.inputLevel) dBFS, sent \(uplink.outputLevel) dBFS,",
        "echo lowered by \(uplink.echoReturnLossEnhancement ?? 0) dB")
    if heard >= 500 { break }
}
await engine.stop()
