// AppSound FILE: plays a file over ALSA's `default` and shows the levels meanwhile.
import Glibc
import VoiceEngine

guard CommandLine.arguments.count == 2 else {
    print("usage: AppSound FILE")
    exit(64)
}
let engine = VoiceEngine(.speakerphone)
try await engine.start()
let meters = Task { try await watchLevels(of: engine) { print($0) } }
if let played = try await announce(.file(CommandLine.arguments[1]), on: engine) {
    print("heard: \(played.heard), \(played.isComplete ? "all of it" : "cut")")
}
await engine.stop()
try await meters.value
