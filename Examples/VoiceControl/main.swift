// VoiceControl [FILE.wav]: a list in the terminal that is driven by spoken words, from a file, or from ALSA's `default`
// until Control-C.
import GraphEngine
import VoiceEngine

let control = try VoiceControl(ItemList(["Morning news", "Weather", "Music"])) { heard, group, list in
    print("heard '\(heard)': \(group ?? "nothing")")
    list.lines.forEach { print("  \($0)") }
}
if CommandLine.arguments.count > 1 {
    try await control.engine.run(file: CommandLine.arguments[1])
} else {
    let voice = VoiceEngine(.voiceAgent)
    try await voice.start()
    try await control.engine.start(on: voice)
    print("say: next, back, like, open, or a title")
    while true { try await Task.sleep(for: .seconds(3_600)) }
}
