internal import Synchronization
package import VoiceDialog
internal import VoiceWeb

/// A Realtime server that answers each request with a sound, all of it at once, and keeps what it was sent.
package final class ScriptedRealtimeServer: Sendable {
    private final class Notes: Sendable {
        let requests = Mutex<[JSON]>([])
        let responses = Mutex(0)
        let links = Mutex<[WebSocketLink]>([])
    }

    private let notes: Notes
    private let server: WebSocketServer

    package var port: UInt16 { server.port }

    /// What the client sent of a type.
    package func requests(_ type: String) -> [JSON] {
        notes.requests.withLock { $0.filter { $0["type"]?.string == type } }
    }

    /// The types of what it sent but sound.
    package var types: [String] {
        notes.requests.withLock { $0.compactMap { $0["type"]?.string } }.filter { $0 != "input_audio_buffer.append" }
    }

    /// How many samples came up before each request for an answer, and behind the last.
    package var heard: [Int] {
        var (turns, samples): ([Int], Int) = ([], 0)
        for request in notes.requests.withLock({ $0 }) {
            switch request["type"]?.string {
            case "input_audio_buffer.append":
                let bytes = request["audio"]?.string.flatMap(Base64.decode)
                samples += bytes.flatMap(DialogSound.pcm16(rate: 24_000).decode)?.count ?? 0
            case "response.create":
                turns.append(samples)
                samples = 0
            default: break
            }
        }
        return turns + [samples]
    }

    /// - Parameters:
    ///   - later: the answer to all requests but the first; the same as that where it is nil.
    ///   - isEndless: whether more of each answer seems to come.
    package init(answer: [Int16], later: [Int16]? = nil, port: UInt16 = 0, isEndless: Bool = false) throws {
        let notes = Notes()
        self.notes = notes
        server = try WebSocketServer(interface: "127.0.0.1", port: port) { link in
            notes.links.withLock { $0.append(link) }
            Task {
                while let event = await link.next() {
                    switch event {
                    case .opened: link.send(JSON.object(["type": "session.created", "session": [:]]).encoded)
                    case .message(let message):
                        guard let request = try? JSON(parsing: message) else { break }
                        notes.requests.withLock { $0.append(request) }
                        guard request["type"] == "response.create" else { break }
                        let number = Self.number(notes)
                        let answered = number > 1 ? later ?? answer : answer
                        let messages = Self.messages(of: answered, number, to: request)
                        for message in messages.dropLast(isEndless ? 1 : 0) { link.send(message.encoded) }
                    case .ended: return
                    }
                }
            }
        }
    }

    private static func number(_ notes: Notes) -> Int {
        notes.responses.withLock { count in
            count += 1
            return count
        }
    }

    /// Sends the client that came last a message.
    package func send(_ message: JSON) { _ = notes.links.withLock { $0.last }?.send(message.encoded) }

    /// Begins an answer that nobody asked for, as one does that finds by itself when a turn ends.
    package func answerUnasked(_ answer: [Int16]) {
        let link = notes.links.withLock { $0.last }
        for message in Self.messages(of: answer, Self.number(notes), to: .null) { link?.send(message.encoded) }
    }

    /// An answer as servers send it, in pieces of 100 ms.
    private static func messages(of answer: [Int16], _ number: Int, to request: JSON) -> [JSON] {
        let response = JSON.string("response_\(number)")
        let item = JSON.string("item_\(number)")
        var created: [String: JSON] = ["id": response, "status": "in_progress"]
        if let metadata = request["response"]?["metadata"] { created["metadata"] = metadata }
        var messages: [JSON] = [
            ["type": "response.created", "response": .object(created)],
            [
                "type": "response.output_item.added", "response_id": response,
                "item": ["id": item, "type": "message", "role": "assistant"],
            ],
            [
                "type": "response.output_audio_transcript.delta", "response_id": response, "item_id": item,
                "delta": "once upon a time there was an engine that told of itself",
            ],
        ]
        for start in stride(from: 0, to: answer.count, by: 2_400) {
            let part = answer[start..<min(start + 2_400, answer.count)]
            messages.append([
                "type": "response.output_audio.delta", "response_id": response, "item_id": item, "content_index": 0,
                "delta": .string(Base64.encode(DialogSound.pcm16(rate: 24_000).encode(part))),
            ])
        }
        messages.append(["type": "response.done", "response": ["id": response, "status": "completed"]])
        return messages
    }
}
