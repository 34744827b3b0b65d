// CallControls URL TOKEN: a call whose window is the keyboard. A line is a command; the end of the input hangs up.
import Glibc
import VoiceEngine

let arguments = CommandLine.arguments
guard arguments.count == 3 else {
    print("usage: CallControls URL TOKEN")
    exit(64)
}
let controls = CallControls(engine: VoiceEngine(.voiceAgent))
try await controls.engine.start()
try await controls.engine.join(RoomEndpoint(url: arguments[1], token: arguments[2]))
while let line = readLine() {
    let others = await controls.engine.snapshot.others.map(\.participant)
    switch line {
    case "mute", "unmute": try await controls.mute(line == "mute")
    case "headset", "loudspeaker": try await controls.wearHeadset(line == "headset")
    case "quiet", "loud": try await controls.setVolume(percent: line == "quiet" ? 30 : 100)
    case "stop":
        for other in others {
            guard let heard = try await controls.stop(other.id) else { continue }
            print("\(PlainText.escaped(other.identity)): \(heard.heard) heard")
        }
    case "who": for other in others { print(PlainText.escaped(other.identity)) }
    default: print("mute, unmute, headset, loudspeaker, quiet, loud, stop, who")
    }
}
await controls.hangUp()
await controls.engine.stop()
