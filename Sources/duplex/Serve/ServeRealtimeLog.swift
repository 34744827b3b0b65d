import RealtimePartner
import Synchronization
import VoicePartner

/// Tells what happens at a Realtime server: NDJSON for scripts, or lines for people.
final class ServeRealtimeLog: Sendable {
    private let json: Bool
    private let summary = Mutex(ServeRealtimeSummary())

    init(json: Bool) { self.json = json }

    func listening(port: UInt16, url: String) {
        var event = ServeRealtimeEvent("listening", "serving the offline partner on \(url)")
        (event.port, event.url) = (Int(port), url)
        tell(event)
    }

    func end() {
        let summary = summary.withLock { $0 }
        if json { Console.emit(summary) } else { Console.say("\(summary.clients) clients, \(summary.turns) turns") }
    }

    func show(_ event: ServedEvent) {
        summary.withLock { $0.count(event) }
        switch event {
        case .connected: tell(ServeRealtimeEvent("client_connected", "a client came"))
        case .disconnected(let reason):
            tell(
                ServeRealtimeEvent("client_disconnected", reason.map { "a client was lost: \($0)" } ?? "a client went"))
        case .recognised(let text):
            var event = ServeRealtimeEvent("recognised", text.isEmpty ? "nothing was understood" : "heard: \(text)")
            event.text = text
            tell(event)
        case .failed(let error):
            var event = ServeRealtimeEvent("failed", error.explanation)
            event.code = error.code
            tell(event)
        }
    }

    private func tell(_ event: ServeRealtimeEvent) {
        if json { Console.emit(event) } else { Console.say(event.detail) }
    }
}

/// What a server has done.
private struct ServeRealtimeSummary: JSONLine {
    let schema = "duplexvoice.serve-realtime/1"
    let type = "summary"
    var clients = 0
    /// That were recognised, with or without words.
    var turns = 0
    var failures = 0

    mutating func count(_ event: ServedEvent) {
        switch event {
        case .connected: clients += 1
        case .recognised: turns += 1
        case .failed: failures += 1
        case .disconnected: break
        }
    }
}

/// A line of it.
private struct ServeRealtimeEvent: JSONLine {
    let schema = "duplexvoice.serve-realtime/1"
    let type: String
    /// When, seconds since 1970.
    let time = WallClock.seconds
    let detail: String
    var port: Int?
    var url: String?
    var text: String?
    var code: String?

    init(_ type: String, _ detail: String) {
        self.type = type
        self.detail = detail
    }
}
