// Assistant URL MODEL [FILE.wav]: speak, or type; /cancel, /reset, /quit. With a file, that is the microphone. The
// server's key is taken from ASSISTANT_KEY.
import Foundation
import RealtimePartner
import VoiceEngine
import VoicePartner

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count >= 2 else {
    print("usage: Assistant https://host/v1/chat/completions MODEL [FILE.wav]")
    exit(64)
}
let recogniser = PocketsphinxRecogniser(.dictation)
let synthesiser = try EspeakSynthesiser()
let responder = try ChatResponder(
    url: arguments[0], model: arguments[1], key: ProcessInfo.processInfo.environment["ASSISTANT_KEY"])
try await recogniser.prepare()
try await synthesiser.prepare()

var configuration = EngineConfiguration.voiceAgent
if arguments.count > 2 {
    // Files have no echo.
    configuration = .headset
    configuration.device = .custom(FileDevice(FileDeviceConfiguration(input: arguments[2], output: nil)))
}
let engine = VoiceEngine(configuration)
try await engine.start()
let assistant = Assistant(
    in: try await engine.converse(), recogniser: recogniser, responder: responder, synthesiser: synthesiser
) { print(PlainText.escaped($0.description)) }
let talk = Task { await assistant.run() }
while let line = readLine(), line != "/quit" {
    switch line {
    case "/cancel": await assistant.cancel()
    case "/reset": await assistant.reset()
    case "": break
    default: await assistant.ask(line)
    }
}
await engine.stop()
await talk.value
