import Foundation
import Testing
import VoiceDevices
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

        @Test("what is published again in a protected room is heard at once, the microphone and an app's stream")
        func again() async throws {
            let state = FileManager.default.temporaryDirectory.appending(path: "again-\(UUID().uuidString)").path()
            defer { try? FileManager.default.removeItem(atPath: state) }
            let room = try LoopbackRoom(state: state)
            defer { room.close() }
            let (anna, ben) = (try modestEngine(), try modestEngine())
            for engine in [anna, ben] { try await engine.start() }
            try await ben.join(room.endpoint("ben"))
            try await anna.join(room.endpoint("anna"))
            let received = { try await ben.statistics().streams.map(\.bytesReceived) }
            for round in 1...3 {
                let music = try await anna.publish(stream: "music")
                // Each time more than could be late
                #expect(await music.play([Float](repeating: 0.1, count: 48_000)))
                await music.finish()
                #expect(try await eventually { try await received().count { $0 > 2_000 } == 2 }, "round \(round)")
                music.close()
                await anna.unpublish()
                #expect(try await eventually { try await received().isEmpty })
                #expect(try await eventually { await anna.snapshot.own?.streams.isEmpty == true })
                try await anna.publish()
            }
            for engine in [anna, ben] { await engine.stop() }
        }

        @Test("the end of a piece is waited for where there is something to wait for, and never longer")
        func pieces() async throws {
            let room = try LoopbackRoom()
            defer { room.close() }
            let anna = try modestEngine()
            try await anna.start()
            try await anna.join(room.endpoint("anna"))
            let music = try await anna.publish(stream: "music")
            let second = [Float](repeating: 0.1, count: 48_000)
            // Of nothing at once
            await music.finish()
            // When a piece is interrupted while it waits for room, then its end is there
            async let isQueued = music.play(second + second + second + second + second + second + second)
            #expect(try await eventually { try await anna.statistics().farEnds.first?.played ?? .zero > .zero })
            music.interrupt()
            #expect(await !isQueued)
            await music.finish()
            // When whoever waits is cancelled, then the next waits for the same
            #expect(await music.play(second))
            let waiting = Task { await music.finish() }
            waiting.cancel()
            await waiting.value
            await music.finish()
            let played = try await anna.statistics().farEnds.first?.played ?? .zero
            #expect(played >= .milliseconds(900), "\(played)")
            // Twice is as once, by two at a time as well
            await music.finish()
            #expect(await music.play(second))
            async let one: Void = music.finish()
            async let other: Void = music.finish()
            _ = await (one, other)
            await anna.stop()
            await music.finish()
        }

        @Test("an app's stream is sent without a microphone")
        func withoutMicrophone() async throws {
            let room = try LoopbackRoom()
            defer { room.close() }
            // Given a client that plays, and captures nothing
            let device = ClientDevice()
            let (anna, ben) = (VoiceEngine(modestConfiguration(device: device)), try modestEngine())
            let player = Task {
                var sound = [Float](repeating: 0, count: 480)
                while !Task.isCancelled {
                    device.pullPlayback(into: &sound)
                    try? await Task.sleep(for: .milliseconds(10))
                }
            }
            defer { player.cancel() }
            for engine in [anna, ben] { try await engine.start() }
            try await ben.join(room.endpoint("ben"))
            try await anna.join(room.endpoint("anna"))
            let music = try await anna.publish(stream: "music")
            #expect(await music.play([Float](repeating: 0.1, count: 6 * 48_000)))
            await music.finish()
            #expect(
                try await eventually { try await ben.statistics().streams.contains { $0.bytesReceived > 20_000 } })
            for engine in [anna, ben] { await engine.stop() }
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

        @Test("who tells more than the room takes has told the last of it a little later")
        func tooMuch() async throws {
            let room = try LoopbackRoom()
            defer { room.close() }
            let (anna, ben) = (try modestEngine(), try modestEngine())
            for (engine, name) in [(anna, "anna"), (ben, "ben")] {
                try await engine.start()
                try await engine.join(room.endpoint(name))
            }
            for step in 0..<60 {
                try await anna.setAttribute("step", to: "\(step)")
                try await Task.sleep(for: .milliseconds(5))
            }
            try await anna.setRole(.listener)
            #expect(
                try await eventually {
                    let told = await ben.snapshot.others.first?.participant
                    return told?.attributes.values == ["step": "59"] && told?.role == .listener
                })
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
