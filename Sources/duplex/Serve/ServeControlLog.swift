import ControlServer
import Synchronization

/// Tells what happens at a control server: NDJSON for scripts, or lines for people.
final class ServeControlLog: Sendable {
    private let json: Bool
    private let summary = Mutex(ServeControlSummary())

    init(json: Bool) { self.json = json }

    func listening(port: UInt16, url: String) {
        var event = ServeControlEvent("listening", "serving the control API on \(url)")
        (event.port, event.url) = (Int(port), url)
        tell(event)
    }

    func show(_ event: ControlEvent) {
        summary.withLock { $0.count(event) }
        switch event {
        case .sessionStarted(let client, let kind):
            tell(ServeControlEvent("session_started", "\(client) has begun a session (\(kind))"))
        case .sessionEnded(let client, let reason):
            tell(ServeControlEvent("session_ended", "a session of \(client) has ended (\(reason))"))
        case .asked(let client): tell(ServeControlEvent("asked", "\(client) has asked the partner"))
        }
    }

    func end() {
        let summary = summary.withLock { $0 }
        if json {
            Console.emit(summary)
        } else {
            Console.say("\(summary.sessions.counted("session")), \(summary.questions.counted("question"))")
        }
    }

    private func tell(_ event: ServeControlEvent) {
        if json { Console.emit(event) } else { Console.say(event.detail) }
    }
}

/// What a server has done.
private struct ServeControlSummary: JSONLine {
    let schema = "duplexvoice.serve-control/1"
    let type = "summary"
    var sessions = 0
    var questions = 0

    mutating func count(_ event: ControlEvent) {
        switch event {
        case .sessionStarted: sessions += 1
        case .asked: questions += 1
        case .sessionEnded: break
        }
    }
}

/// A line of it.
private struct ServeControlEvent: JSONLine {
    let schema = "duplexvoice.serve-control/1"
    let type: String
    /// When, seconds since 1970.
    let time = WallClock.seconds
    let detail: String
    var port: Int?
    var url: String?

    init(_ type: String, _ detail: String) {
        self.type = type
        self.detail = detail
    }
}
