// NamedStreams talk|listen URL TOKEN: on the stage, or in its audience. Control-C leaves.
import Glibc
import VoiceEngine

let arguments = CommandLine.arguments
guard arguments.count == 4, ["talk", "listen"].contains(arguments[1]) else {
    print("usage: NamedStreams talk|listen URL TOKEN")
    exit(64)
}
let stage = Stage(engine: VoiceEngine(.voiceChat))
let events = stage.engine.events
try await stage.engine.start()
let endpoint = try RoomEndpoint(url: arguments[2], token: arguments[3])
if arguments[1] == "talk" { try await stage.talk(endpoint) } else { try await stage.listen(endpoint) }
for await event in events { if let line = Stage.line(event) { print(PlainText.escaped(line)) } }
