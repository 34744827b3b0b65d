// Karaoke TEXT.txt: speaks the lines of a text over ALSA's `default`, and shows them as they are heard; with `--silent`
// without a sound card. Karaoke URL TOKEN: shows what is said in a room, as it is heard here.
import Foundation
import VoiceEngine
import VoicePartner

let arguments = CommandLine.arguments.dropFirst().filter { $0 != "--silent" }
var configuration = EngineConfiguration.voiceAgent
if CommandLine.arguments.contains("--silent") {
    configuration.device = .custom(FileDevice(FileDeviceConfiguration(input: nil, output: nil)))
}
let engine = VoiceEngine(configuration)
let isTerminal = isatty(STDOUT_FILENO) == 1
let show: @Sendable (CaptionLine) -> Void = { line in
    print(isTerminal ? line.terminal : line.plain, terminator: isTerminal ? "" : "\n")
    try? FileHandle.standardOutput.synchronize()
}
try await engine.start()
switch arguments.count {
case 1:
    let lines = try String(contentsOfFile: arguments[0], encoding: .utf8).split(separator: "\n").map(String.init)
    let voice = try EspeakSynthesiser()
    try await voice.prepare()
    try await readAloud(lines, by: voice, on: engine, show: show)
case 2:
    try await engine.join(RoomEndpoint(url: arguments[0], token: arguments[1]))
    await watchRoom(of: engine, show: show)
default: print("usage: Karaoke [--silent] TEXT.txt | URL TOKEN")
}
await engine.stop()
