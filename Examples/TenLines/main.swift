// TenLines [FILE.wav]: a talk over ALSA's `default`, or with a recording in place of the microphone, until Control-C.
import VoiceEngine
import VoicePartner

var configuration = EngineConfiguration.voiceAgent
if let file = CommandLine.arguments.dropFirst().first {
    // Files have no echo.
    configuration = .headset
    configuration.device = .custom(FileDevice(FileDeviceConfiguration(input: file, output: nil)))
}
try await talk(on: VoiceEngine(configuration)) { event in
    switch event {
    case .recognised(_, let text, isFinal: true): print("you: \(PlainText.escaped(text))")
    case .answered(_, let text): print("partner: \(PlainText.escaped(text.heard))\(text.isCut ? " –" : "")")
    case .failed(_, let error): print("\(error.code): \(PlainText.escaped(error.explanation))")
    default: break
    }
}
