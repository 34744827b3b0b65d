import VoiceEngine

/// Does what the keys say, until one of them ends the talk.
struct TalkKeys {
    private let conversation: Conversation
    private let mode: Talk.Mode
    private let log: TalkLog

    init(_ conversation: Conversation, _ mode: Talk.Mode, _ log: TalkLog) {
        self.conversation = conversation
        self.mode = mode
        self.log = log
        Console.progress(mode == .duplex ? "speak; c cancels, q leaves" : "space to speak; c cancels, q leaves")
    }

    /// Nil where the keyboard is gone.
    func obey(_ keys: AsyncStream<UInt8>) async -> RunEnding? {
        for await key in keys {
            switch key {
            case UInt8(ascii: "q"): return .left
            case UInt8(ascii: "c"): try? conversation.cancel()
            case UInt8(ascii: " ") where mode != .duplex:
                // A terminal tells of no key that is let go: a second press ends what the first began.
                do throws(TurnRefusal) {
                    if conversation.state == .listening {
                        try conversation.stopSpeech()
                    } else {
                        try conversation.startSpeech()
                    }
                } catch {
                    log.warn(EngineError.turn(error).explanation)
                }
            default: break
            }
        }
        return nil
    }
}
