import Testing
import VoiceEngine
import VoiceRooms
import VoiceTransport

extension EngineLiveTests {
    /// Errors that no other test brings about; see `ProvokedErrorTests`.
    @Suite("errors that are provoked")
    struct ProvokedErrors {
        /// What `body` throws.
        private func code(_ body: () async throws(EngineError) -> Void) async -> ErrorCode? {
            do throws(EngineError) { try await body() } catch { return error.code }
            return nil
        }

        @Test("one name of a stream more than an engine knows")
        func names() async throws {
            let engine = VoiceEngine()
            for number in 0..<256 { try await engine.play("stream \(number)") }
            let code = await code { () async throws(EngineError) in try await engine.play("one more") }
            #expect(code == .roomTooManyStreamNames)
            try await engine.play("stream 7")
        }

        @Test("a room's name that is too long, and an address that the system refuses")
        func join() async throws {
            let room = try LoopbackRoom()
            defer { room.close() }
            let engine = try modestEngine()
            try await engine.start()
            let endpoint = try room.endpoint("anna")
            let configuration = RoomClientConfiguration(room: String(repeating: "r", count: 129))
            let name = await code { () async throws(EngineError) in
                _ = try await engine.join(endpoint, configuration: configuration)
            }
            #expect(name == .roomNameTooLong)
            // A broadcast, which a socket may not send unless it has asked for that
            let everybody = try RoomEndpoint(url: "udp://255.255.255.255:9", token: "none")
            let address = await code { () async throws(EngineError) in
                _ = try await engine.join(everybody, configuration: RoomClientConfiguration(allowPlaintext: true))
            }
            #expect(address == .transportRefusedBySystem)
            await engine.stop()
        }

        @Test("more messages than can wait for the server")
        func messages() async throws {
            let room = try LoopbackRoom()
            defer { room.close() }
            let engine = try modestEngine()
            try await engine.start()
            try await engine.join(room.endpoint("anna"))
            let events = engine.events
            let message = [UInt8](repeating: 1, count: 1_024)
            var refused: ErrorCode?
            for _ in 0..<100_000 where refused == nil {
                refused = await code { () async throws(EngineError) in try await engine.send(message) }
            }
            if refused == nil {
                refused = await events.first {
                    if case .requestFailed(.send, let error) = $0 { error.code } else { nil }
                }
            }
            #expect(refused == .roomQueueFull)
            await engine.stop()
        }
    }
}
