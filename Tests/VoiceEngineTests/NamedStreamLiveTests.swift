import Testing
import VoiceEngine
import VoiceRooms
import VoiceSimulation

extension EngineLiveTests {
    @Suite("streams by name, roles and attributes", .serialized)
    struct NamedStreams {
        @Test("a stream is played by its name before anybody publishes it, and its volume is its own")
        func byName() async throws {
            let room = try LoopbackRoom()
            defer { room.close() }
            let (anna, ben) = (try modestEngine(), try modestEngine())
            // Given ben, who chooses what he hears and has named anna's stream before he starts
            let told = ben.events
            try await ben.play("stage")
            try await ben.setVolume(0.5, ofStream: "stage")
            #expect(await told.first(\.stage) == .waiting(.outsideRoom))
            try await ben.start()
            try await ben.join(room.endpoint("ben"), configuration: RoomClientConfiguration(capabilities: .byChoice))
            #expect(await told.first(\.stage) == .waiting(.notPublished))
            // When anna comes in, without a name, then he does not hear her
            try await anna.publish(as: "stage")
            await anna.unpublish()
            try await anna.start()
            try await anna.join(room.endpoint("anna"))
            #expect(try await eventually { await ben.snapshot.others.count == 1 })
            // When she publishes by that name, then he does
            try await anna.publish(as: "stage")
            #expect(await told.first(\.stage) == .requesting)
            #expect(await told.first(\.stage) == .playing)
            #expect(try await eventually { (try await ben.statistics().streams.first?.bytesReceived ?? 0) > 500 })
            #expect(await ben.snapshot.others.first?.streams.map(\.name) == ["stage"])
            #expect(await ben.snapshot.streams == ["stage": .playing])
            // When she withdraws it, and he gives it up
            await anna.unpublish()
            #expect(await told.first(\.stage) == .waiting(.notPublished))
            try await ben.stopPlaying("stage")
            #expect(await told.first(\.stage) == .stopped(.asked))
            // Then it is not heard when it is there again
            try await anna.publish(as: "stage")
            #expect(try await eventually { await anna.snapshot.own?.streams.map(\.name) == ["stage"] })
            #expect(try await eventually { try await ben.statistics().streams.isEmpty })
            // And a name that is taken is refused
            let refused = ben.events
            try await ben.publish(as: "stage")
            #expect(await refused.first(\.refusal) == .nameTaken)
            await anna.stop()
            await ben.stop()
        }

        @Test("an app's stream is heard beside the microphone, by its name, and goes with whoever closes it")
        func outgoing() async throws {
            let room = try LoopbackRoom()
            defer { room.close() }
            let (anna, ben) = (try modestEngine(), try modestEngine())
            await #expect(throws: EngineError.self) { _ = try await anna.publish(stream: "music") }
            try await anna.start()
            // Given a stream from before the room
            var streams = [try await anna.publish(stream: "music")]
            try await anna.join(room.endpoint("anna"))
            #expect(try await eventually { await anna.snapshot.own?.streams.map(\.name) == ["", "music"] })
            for name in ["b", "c"] { streams.append(try await anna.publish(stream: name, .speech)) }
            await #expect(throws: EngineError.self) { _ = try await anna.publish(stream: "d") }
            // When ben comes later, who chooses, and it is fed
            try await ben.play("music")
            try await ben.start()
            try await ben.join(room.endpoint("ben"), configuration: RoomClientConfiguration(capabilities: .byChoice))
            #expect(try await eventually { await ben.snapshot.streams == ["music": .playing] })
            #expect(await streams[0].play([Float](repeating: 0.1, count: 96_000)))
            await streams[0].finish()
            // Then he hears it, and it alone
            #expect(try await eventually { (try await ben.statistics().streams.first?.bytesReceived ?? 0) > 500 })
            #expect(try await ben.statistics().streams.count == 1)
            let told = ben.events
            streams.removeFirst().close()
            #expect(
                await told.first { if case .streamState("music", let state) = $0 { state } else { nil } }
                    == .waiting(.notPublished))
            #expect(try await eventually { await anna.snapshot.own?.streams.map(\.name) == ["", "b", "c"] })
            // And another may take its place
            #expect(
                try await eventually {
                    do { streams.append(try await anna.publish(stream: "d")) } catch { return false }
                    return true
                })
            await anna.stop()
            await ben.stop()
        }

        @Test("a listener becomes a talker, and attributes reach whoever is there and whoever comes later")
        func rolesAndAttributes() async throws {
            let room = try LoopbackRoom()
            defer { room.close() }
            let (anna, ben) = (try modestEngine(), try modestEngine())
            // Given anna, who has told something of herself before she comes in to listen
            try await anna.setAttribute("dv.kind", to: "agent")
            try await anna.start()
            try await anna.join(room.endpoint("anna"), configuration: RoomClientConfiguration(role: .listener))
            try await ben.start()
            let told = ben.events
            let there = try await ben.join(room.endpoint("ben"))
            let id = try #require(there.first).id
            #expect(there.first?.role == .listener)
            // Her attributes may come a message after her
            #expect(try await eventually { await ben.snapshot.others.first?.participant.isAgent == true })
            #expect(await ben.snapshot.others.first?.streams == [])
            // When she becomes a talker, then she is heard
            try await anna.setRole(.talker)
            #expect(await told.first { $0.role(of: id) } == .talker)
            #expect(try await eventually { (try await ben.statistics().streams.first?.bytesReceived ?? 0) > 500 })
            // When she tells what she does, and takes back what she is
            try await anna.setAttribute("dv.state", to: "thinking")
            try await anna.setAttribute("dv.kind", to: nil)
            #expect(
                try await eventually {
                    await ben.snapshot.others.first?.participant.attributes.values == ["dv.state": "thinking"]
                })
            // And listens again, then she is not heard any more
            try await anna.setRole(.listener)
            #expect(await told.first { $0.role(of: id) } == .listener)
            #expect(try await eventually { try await ben.statistics().streams.isEmpty })
            #expect(await anna.snapshot.own?.participant.role == .listener)
            await anna.stop()
            await ben.stop()
        }
    }
}

extension EngineEvent {
    fileprivate var stage: PlayState? { if case .streamState("stage", let state) = self { state } else { nil } }
    fileprivate var refusal: RoomRefusal? { if case .requestRefused(_, let refusal) = self { refusal } else { nil } }
    fileprivate func role(of id: ParticipantID) -> RoomRole? {
        if case .roleChanged(id, let role) = self { role } else { nil }
    }
}
