import Foundation
import Testing
import VoiceDialog
import VoiceWeb

/// A client of the control API, by plain sockets.
struct ControlClient: Sendable {
    let port: UInt16
    let key: String?

    /// An answer, as it came.
    struct Answer: Sendable {
        var status: Int
        var head: String
        var json: JSON

        /// Of an error.
        var code: String? { json["error"]?["code"]?.string }
    }

    /// One request on a connection of its own.
    func ask(
        _ method: String, _ path: String, _ body: [UInt8] = [], type: String = "application/json",
        headers: [String] = []
    ) async throws -> Answer {
        var lines = ["\(method) \(path) HTTP/1.1", "Connection: close"]
        if !headers.contains(where: { $0.hasPrefix("Host:") }) { lines.append("Host: 127.0.0.1:\(port)") }
        if let key { lines.append("Authorization: Bearer \(key)") }
        if !body.isEmpty { lines += ["Content-Type: \(type)", "Content-Length: \(body.count)"] }
        lines += headers
        return try #require(try await raw(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body).first)
    }

    func ask(_ method: String, _ path: String, json: JSON) async throws -> Answer {
        try await ask(method, path, json.encoded)
    }

    /// Brings a piece of an answer, again where too many wait.
    func inTime(_ path: String, json: JSON) async throws -> Answer {
        try await inTime(path, json.encoded, "application/json")
    }

    /// The same of a sound.
    func inTime(_ path: String, _ wav: [UInt8]) async throws -> Answer { try await inTime(path, wav, "audio/wav") }

    /// Says something, again while somebody else speaks, as where a busy machine has made two turns of what was said.
    func sayWhenFree(_ session: String, _ text: String) async throws -> Answer {
        while true {
            let answer = try await ask("POST", "/v1/sessions/\(session)/say", json: ["text": .string(text)])
            guard answer.status == 409, answer.code?.hasPrefix("turn.") == true else { return answer }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// Answers in a turn that was recognised: in the next one where that is over, as where the talker went on.
    func answer(_ session: String, _ members: [String: JSON]) async throws -> (turn: JSON, Answer) {
        var last = 0
        while true {
            let turn = try await event(session) {
                $0["type"]?.string == "recognised" && ($0["turn"]?.integer ?? 0) > last
            }["turn"]
            last = turn?.integer ?? .max
            var json = members
            json["turn"] = turn
            let answer = try await ask("POST", "/v1/sessions/\(session)/say", json: .object(json))
            if answer.status != 409 { return (turn ?? .null, answer) }
        }
    }

    private func inTime(_ path: String, _ body: [UInt8], _ type: String) async throws -> Answer {
        while true {
            let answer = try await ask("POST", path, body, type: type)
            guard answer.status == 429 else { return answer }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// All answers to these bytes, until the server ends the connection.
    func raw(_ bytes: [UInt8]) async throws -> [Answer] {
        let port = port
        let received = try await Task.detached { try Self.exchange(bytes, port: port) }.value
        return try Self.answers(received)
    }

    private static func exchange(_ bytes: [UInt8], port: UInt16) throws -> [UInt8] {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = unsafe withUnsafeBytes(of: &address) { bytes in
            unsafe connect(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, 16)
        }
        try #require(status == 0)
        var limit = timeval(tv_sec: 40, tv_usec: 0)
        unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes[sent...].withUnsafeBytes {
                unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { break }
            sent += count
        }
        var received: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while case let count = unsafe piece.withUnsafeMutableBytes({
            unsafe recv(descriptor, $0.baseAddress, $0.count, 0)
        }), count > 0 {
            received += piece[..<count]
        }
        return received
    }

    private static func answers(_ bytes: [UInt8]) throws -> [Answer] {
        var rest = bytes[...]
        var answers: [Answer] = []
        while let end = rest.firstRange(of: [13, 10, 13, 10]) {
            let head = String(decoding: rest[..<end.lowerBound], as: UTF8.self)
            let lines = head.lowercased().components(separatedBy: "\r\n")
            let length = lines.first { $0.hasPrefix("content-length: ") }.flatMap { Int($0.dropFirst(16)) } ?? 0
            let body = rest[end.upperBound...].prefix(length)
            try #require(body.count == length, "a body of \(body.count) bytes, not \(length)")
            rest = rest[(end.upperBound + length)...]
            let status = try #require(Int(head.split(separator: " ")[1]))
            let json =
                body.isEmpty ? JSON.null : try JSON(parsing: Array(body), limits: JSONLimits(bytes: 16 << 20))
            answers.append(Answer(status: status, head: head, json: json))
        }
        #expect(rest.isEmpty)
        return answers
    }

    /// A new session's name.
    func makeSession(_ json: JSON = [:], at path: String = "/v1/sessions") async throws -> String {
        let answer = try await ask("POST", path, json: json)
        try #require(answer.status == 201, "\(answer.json)")
        return try #require(answer.json["session"]?.string)
    }

    /// Waits until an event is as wanted, and returns it.
    func event(_ session: String, where isWanted: (JSON) -> Bool) async throws -> JSON {
        var last = 0
        let deadline = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < deadline {
            let answer = try await ask("GET", "/v1/sessions/\(session)/events?after=\(last)&wait=10")
            let events = try #require(answer.json["events"]?.array)
            if let event = events.first(where: isWanted) { return event }
            last = answer.json["last"]?.integer ?? last
        }
        throw ControlTimeout(
            session: session, events: try await events(session).map { String(decoding: $0.encoded, as: UTF8.self) })
    }

    func event(_ session: String, _ type: String) async throws -> JSON {
        try await event(session) { $0["type"]?.string == type }
    }

    func events(_ session: String) async throws -> [JSON] {
        try await ask("GET", "/v1/sessions/\(session)/events").json["events"]?.array ?? []
    }
}

/// An event that was awaited did not come.
struct ControlTimeout: Error {
    var session: String
    var events: [String]
}
