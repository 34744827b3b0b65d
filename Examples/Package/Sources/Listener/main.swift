import Glibc
import VoiceEngine

// Listener URL TOKEN: joins a room and says who comes, speaks and goes, until the call is over.
guard CommandLine.arguments.count == 3 else {
    print("usage: Listener URL TOKEN")
    exit(64)
}

let engine = VoiceEngine(.voiceChat)
let events = engine.events
do {
    try await engine.start()
    let others = try await engine.join(RoomEndpoint(url: CommandLine.arguments[1], token: CommandLine.arguments[2]))
    print("\(others.count) others are here")
} catch {
    print(PlainText.escaped("\(error)"))
    exit(69)
}
listening: for await event in events {
    switch event {
    case .participantJoined(let participant): print("\(PlainText.escaped(participant.identity)) came in")
    case .speechStarted: print("you speak")
    case .participantLeft: print("somebody went out")
    case .left(let end):
        print("it is over: \(PlainText.escaped(end.explanation))")
        break listening
    default: break
    }
}
await engine.stop()
