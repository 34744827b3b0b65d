import RealtimePartner
import VoiceEngine
import VoicePartner

/// Passes on to the partner what other programs ask of it, one request a line: what an agent in a room takes as a
/// message (docs/protocol.md, section 12).
struct TalkRequests {
    let requests: PartnerRequests
    let conversation: Conversation
    let log: TalkLog

    /// Until the lines end.
    func obey(_ lines: InputLines) async {
        var lines = lines
        while let line = await lines.next() {
            guard case .whole(let bytes) = line, let message = AgentMessage(bytes) else {
                log.warn(
                    "a line is no request; give one like {\"agent\":\"say\",\"text\":\"Hello.\"}, of "
                        + "\(InputLines.lineLimit) bytes at most")
                continue
            }
            if await !take(message) {
                log.warn("a request was not taken: somebody speaks, or it is longer than is allowed")
            }
        }
    }

    private func take(_ message: AgentMessage) async -> Bool {
        switch message {
        case .say(let text): return await requests.say(text)
        case .ask(let text): return await requests.ask(text)
        case .update(let parameters): return await requests.update(parameters)
        case .cancel:
            do throws(TurnRefusal) { try conversation.cancel() } catch { return false }
            return true
        }
    }
}
