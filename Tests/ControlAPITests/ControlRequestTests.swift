import Foundation
import Testing
import VoiceDialog

@testable import ControlAPI

@Suite("Requests of the control API")
struct ControlRequestTests {
    private static let session = String(repeating: "0a", count: 16)

    private static func request(
        _ method: String, _ path: String, query: [String: String] = [:], _ body: String = "",
        type: String? = "application/json"
    ) -> HTTPRequest {
        var head = HTTPHead(method: method, path: path, query: query)
        if let type { head.headers["content-type"] = type }
        return HTTPRequest(head: head, body: Array(body.utf8))
    }

    private static func outcome(_ request: HTTPRequest) -> Result<ControlRequest, ControlError> {
        do throws(ControlError) { return .success(try ControlRequest(request)) } catch { return .failure(error) }
    }

    @Test(
        "Given what is asked as described, then it is that operation",
        arguments: [
            ("GET", "/openapi.json", "", ControlOperation.getDocument), ("GET", "/v1/status", "", .getStatus),
            ("POST", "/v1/sessions", "{}", .makeSession), ("GET", "/v1/sessions", "", .listSessions),
            ("POST", "/v1/sessions", "{\"answers\":\"partner\"}", .makeSession),
            ("POST", "/v1/participants", "{\"server\":\"udp://h:1\",\"token\":\"t\"}", .makeParticipant),
            ("GET", "/v1/sessions/\(session)", "", .getSession), ("DELETE", "/v1/sessions/\(session)", "", .endSession),
            ("POST", "/v1/sessions/\(session)/say", "{\"text\":\"hello\",\"turn\":3.0}", .say),
            ("POST", "/v1/sessions/\(session)/interrupt", "", .interrupt),
            ("POST", "/v1/token", "{\"room\":\"r\",\"identity\":\"i\",\"validSeconds\":60}", .makeToken),
        ])
    func good(method: String, path: String, body: String, operation: ControlOperation) throws {
        let request = try ControlRequest(Self.request(method, path, body))
        #expect(request.operation == operation)
        #expect(request.session == (operation.hasSession ? Self.session : nil))
    }

    @Test(
        "Given anything else, then what is wrong is told by status, code and field",
        arguments: [
            ("GET", "/", "", 404, "control.notFound", nil), ("GET", "/v1/sessions/", "", 404, "control.notFound", nil),
            ("GET", "/v1/sessions/a/b", "", 404, "control.notFound", nil),
            ("PUT", "/v1/status", "", 405, "control.methodNotAllowed", nil),
            ("POST", "/v1/sessions", "", 400, "control.invalid", nil),
            ("POST", "/v1/sessions", "[]", 400, "control.invalid", nil),
            ("POST", "/v1/sessions", "{\"answers\":\"nobody\"}", 400, "control.invalid", "answers"),
            ("POST", "/v1/sessions", "{\"extra\":1}", 400, "control.invalid", "extra"),
            ("POST", "/v1/sessions", "{\"answers\":\"bot\",\"answers\":\"bot\"}", 400, "control.invalid", nil),
            ("POST", "/v1/participants", "{\"server\":\"http://h\",\"token\":\"t\"}", 400, "control.invalid", "server"),
            ("POST", "/v1/participants", "{\"server\":\"udp://h\"}", 400, "control.invalid", "token"),
            ("POST", "/v1/sessions/\(session)/say", "{\"text\":\"\"}", 400, "control.invalid", "text"),
            ("POST", "/v1/sessions/\(session)/say", "{\"text\":\"a\",\"turn\":0.5}", 400, "control.invalid", "turn"),
            ("POST", "/v1/sessions/\(session)/say", "{\"text\":\"a\",\"turn\":-1}", 400, "control.invalid", "turn"),
            ("POST", "/v1/sessions/\(session)/interrupt", "{}", 400, "control.invalid", nil),
            ("POST", "/v1/partner", "x", 415, "control.unsupportedMediaType", nil),
            ("POST", "/v1/token", String(repeating: "[", count: 60_000), 400, "control.invalid", nil),
        ] as [(String, String, String, Int, String, String?)])
    func bad(method: String, path: String, body: String, status: Int, code: String, field: String?) {
        guard case .failure(let error) = Self.outcome(Self.request(method, path, body)) else {
            return #expect(Bool(false), "\(method) \(path) was taken")
        }
        #expect((error.status, error.code, error.field) == (status, code, field), "\(error)")
    }

    @Test("Given parameters of a query, then they are numbers within their ranges")
    func query() throws {
        func events(_ query: [String: String]) -> Result<ControlRequest, ControlError> {
            Self.outcome(Self.request("GET", "/v1/sessions/\(Self.session)/events", query: query, type: nil))
        }
        #expect(try events(["after": "7", "wait": "10"]).get().query == ["after": 7, "wait": 10])
        for bad in [["after": "-1"], ["wait": "11"], ["after": ""], ["after": "+1"], ["after": "%31"], ["other": "1"]] {
            #expect(throws: ControlError.self, "\(bad)") { try events(bad).get() }
        }
    }

    @Test("every operation has a path and a method of its own, and what it fails by has a meaning")
    func table() {
        let all = ControlOperation.allCases.map { "\($0.method) \($0.path)" }
        #expect(Set(all).count == all.count)
        #expect(ControlRequest.methods("/v1/sessions") == ["GET", "POST"])
        #expect(ControlRequest.methods("/v2") == [])
    }
}

@Suite("The document of the control API")
struct OpenAPITests {
    @Test("Given the list of operations, then the document in docs is made of it; REGENERATE=1 writes it anew")
    func drift() throws {
        let path = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "docs/openapi.json")
        let made = OpenAPI.document
        if ProcessInfo.processInfo.environment["REGENERATE"] != nil {
            let value = try JSONSerialization.jsonObject(with: Data(made.encoded))
            let text = try JSONSerialization.data(
                withJSONObject: value, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
            try (text + Data("\n".utf8)).write(to: path)
        }
        #expect(try JSON(parsing: Array(try Data(contentsOf: path))) == made)
    }

    @Test("Given that anybody may ask for it, then it is made once")
    func once() {
        func place(_ bytes: [UInt8]) -> UnsafePointer<UInt8>? {
            unsafe bytes.withUnsafeBufferPointer { $0.baseAddress }
        }
        #expect(unsafe place(OpenAPI.response.body) == place(OpenAPI.response.body))
        #expect(OpenAPI.response.body == OpenAPI.document.encoded)
    }

    @Test("every schema that is referred to is there")
    func references() {
        let text = String(decoding: OpenAPI.document.encoded, as: UTF8.self)
        for operation in ControlOperation.allCases {
            #expect(text.contains("\"operationId\":\"\(operation.rawValue)\""))
            if let schema = operation.success.schema {
                #expect(OpenAPI.document["components"]?["schemas"]?[schema] != nil, "\(schema)")
            }
        }
    }
}

@Suite("Who may ask")
struct GatekeeperTests {
    private let gate = Gatekeeper([
        .init(name: "a", key: Array("key-of-a".utf8)), .init(name: "b", key: Array("key-of-b-longer".utf8)),
    ])

    private func client(_ authorization: String?) -> String? {
        var head = HTTPHead(method: "GET", path: "/")
        head.headers["authorization"] = authorization
        return try? gate.client(head)
    }

    @Test("Given a key, then it is that client's, and nothing like it is")
    func keys() {
        #expect(client("Bearer key-of-a") == "a" && client("Bearer key-of-b-longer") == "b")
        for wrong in [
            "Bearer ", "Bearer key-of-", "Bearer key-of-aa", "bearer key-of-a", "key-of-a", "Basic key-of-a", "",
        ] {
            #expect(client(wrong) == nil, "\(wrong)")
        }
        #expect(client(nil) == nil)
    }

    @Test("Given a page in a browser, or a name that is not ours, then it is refused")
    func origins() {
        func isServed(_ headers: [String: String]) -> Bool {
            var head = HTTPHead(method: "GET", path: "/")
            head.headers = headers
            return (try? gate.checkOrigin(head)) != nil
        }
        for host in ["localhost", "LOCALHOST:80", "127.0.0.1:7990", "[::1]:7990"] {
            #expect(isServed(["host": host]), "\(host)")
        }
        for host in ["example.org", "localhost.example.org", "127.0.0.1.example.org", "[::1].example.org", "", "[::2]"]
        {
            #expect(!isServed(["host": host]), "\(host)")
        }
        #expect(!isServed(["host": "localhost", "origin": "http://localhost"]))
        #expect(!isServed(["host": "localhost", "origin": "null"]))
    }
}

@Suite("Sessions of clients")
struct SessionTableTests {
    @Test("Given two clients, then neither sees, uses or crowds out the other's sessions")
    func apart() throws {
        var table = SessionTable()
        try table.add("1", of: "a", now: .zero)
        #expect(throws: ControlError.notFound) { try table.use("1", by: "b", now: .zero) }
        #expect(throws: Never.self) { try table.use("1", by: "a", now: .zero) }
        for id in 2...4 { try table.add("\(id)", of: "a", now: .zero) }
        #expect(throws: ControlError.self) { try table.add("5", of: "a", now: .zero) }
        for id in 6...9 { try table.add("\(id)", of: "b", now: .zero) }
        #expect(table.sessions(of: "b") == ["6", "7", "8", "9"])
        #expect(throws: ControlError.self) { try table.add("10", of: "c", now: .zero) }
        table.remove("1")
        #expect(throws: Never.self) { try table.add("10", of: "c", now: .zero) }
    }

    @Test("Given a session that nobody uses, then it ends; not while somebody listens")
    func idle() throws {
        var table = SessionTable()
        try table.add("1", of: "a", now: .zero)
        try table.add("2", of: "a", now: .zero)
        table.listens(1, to: "2", now: .zero)
        #expect(table.removeIdle(now: .seconds(599)) == [])
        #expect(table.removeIdle(now: .seconds(600)) == ["1"])
        table.listens(-1, to: "2", now: .seconds(700))
        #expect(table.removeIdle(now: .seconds(1_299)) == [])
        #expect(table.removeIdle(now: .seconds(1_300)) == ["2"])
    }

    @Test("Given more events than are kept, then the newest are, with their numbers")
    func events() {
        var log = EventLog()
        #expect(log.events(after: 0).isEmpty)
        for _ in 0..<600 { log.append("a", [:], milliseconds: 1) }
        #expect(log.last == 600 && log.events(after: 0).count == EventLog.capacity)
        #expect(log.events(after: 598).map { $0["number"]?.integer } == [599, 600])
        #expect(log.events(after: 600).isEmpty && log.events(after: 9_999).isEmpty)
    }
}
