// PushToTalk [FILE.wav]: a talk with the offline partner over ALSA's `default`, or with a recording in place of the
// microphone.
import VoiceEngine
import VoicePartner

var configuration = EngineConfiguration.voiceAgent
if let file = CommandLine.arguments.dropFirst().first {
    // Files have no echo.
    configuration = .headset
    configuration.device = .custom(FileDevice(FileDeviceConfiguration(input: file, output: nil)))
}
let partner = CascadePartner(
    recogniser: PocketsphinxRecogniser(.grammar(DialogueCore.grammar)), responder: DialogueCore(),
    synthesiser: try EspeakSynthesiser())
try await pushToTalk(with: partner, on: VoiceEngine(configuration), keys: keys()) { print(PlainText.escaped($0)) }
