import Testing
import VoiceEngine
import VoiceRooms
import VoiceSimulation

extension EngineLiveTests {
    @Suite("in a room", .serialized)
    struct InARoom {
        private func names(_ participants: [Participant]) -> [String] { participants.map(\.identity) }

        @Test("two engines meet, hear and tell each other, part and meet again")
        func meeting() async throws {
            let room = try LoopbackRoom()
            defer { room.close() }
            let (anna, ben) = (try modestEngine(), try modestEngine())
            try await anna.start()
            try await ben.start()
            for round in 1...2 {
                let (heardByAnna, heardByBen) = (anna.events, ben.events)
                // When anna, then ben joins
                #expect(names(try await anna.join(room.endpoint("anna"))) == [])
                let there = try await ben.join(
                    room.endpoint("ben"), configuration: RoomClientConfiguration(interruptibleBy: .anyone))
                // Then each knows of the other
                #expect(names(there) == ["anna"])
                let arrival = await heardByAnna.first(\.arrival)
                #expect(arrival?.identity == "ben")
                // And hears the other
                for engine in [anna, ben] {
                    #expect(
                        try await eventually { (try await engine.statistics().streams.first?.bytesReceived ?? 0) > 500 }
                    )
                    #expect(try await eventually { try await engine.statistics().room?.session.roundTripTime != nil })
                }
                // And a message arrives, in both directions
                let benID = try #require(arrival).id
                try await anna.send([1, 2, UInt8(round)], to: benID)
                try await ben.send([3])
                #expect(await heardByBen.first(\.message) == [1, 2, UInt8(round)])
                #expect(await heardByAnna.first(\.message) == [3])
                // And the volume of who is there may be set
                try await anna.setVolume(0.5, for: benID)
                // And ben may be interrupted, of which he is told, and nobody who is not there
                try await anna.interrupt(benID)
                let interruption = await heardByBen.first(\.interruption)
                #expect(interruption?.talker == benID)
                #expect(interruption?.generation == 1)
                // When ben leaves, then anna is told why and plays him no more
                await ben.leave()
                #expect(await heardByAnna.first { $0.departure(of: benID) } == .left)
                #expect(try await eventually { try await anna.statistics().streams.isEmpty })
                await expect(.roomUnknownParticipant) { try await anna.setVolume(1, for: benID) }
                await expect(.roomUnknownParticipant) { try await anna.interrupt(benID) }
                await expect(.roomUnknownParticipant) {
                    _ = try await anna.interrupt(benID, awaitingReceiptsFor: .seconds(1))
                }
                await anna.leave()
            }
            await anna.stop()
            await ben.stop()
        }

        @Test("a snapshot says where the engine stands and who is there, as the statistics and events do")
        func snapshot() async throws {
            let room = try LoopbackRoom()
            let (anna, ben) = (try modestEngine(), try modestEngine())
            var seen = await anna.snapshot
            #expect(seen.connection == .outside)
            #expect(!seen.isRunning && seen.formats == nil && seen.route == nil && seen.own == nil)
            // Given both in the room, and ben muted
            let formats = try await anna.start()
            try await ben.start()
            try await ben.setMuted(true)
            try await anna.join(room.endpoint("anna"))
            let heard = anna.events
            try await ben.join(room.endpoint("ben"))
            let benID = try #require(await heard.first(\.arrival)).id
            _ = await heard.first { $0.mute(of: benID) }
            // Then anna's snapshot shows both, with the sources of their packets
            seen = await anna.snapshot
            #expect(seen.connection == .connected)
            #expect(seen.isRunning && !seen.isMuted && seen.formats == formats)
            #expect(seen.room == LoopbackRoom.name)
            #expect(seen.own?.participant.identity == "anna")
            #expect(seen.others.map(\.participant.identity) == ["ben"])
            #expect(seen.others.first?.streams.map(\.isMuted) == [true])
            #expect(seen.others.first?.isReachable == true)
            let seenByBen = await ben.snapshot
            #expect(seenByBen.isMuted)
            #expect(seenByBen.own?.participant.id == benID)
            #expect(try await eventually { await ben.snapshot.own?.streams == seen.others.first?.streams })
            #expect(try await eventually { await ben.snapshot.others.first?.streams == anna.snapshot.own?.streams })
            let source = try #require(await ben.snapshot.others.first?.streams.first).synchronizationSource
            #expect(
                try await eventually { try await ben.statistics().streams.first?.synchronizationSource == source })
            // And a stream of the statistics is its talker's
            let annaID = try #require(seen.own?.participant.id)
            #expect(try await eventually { try await ben.statistics().streams.first?.participant == annaID })
            // When the server goes without a word, then the engine is coming back
            room.close()
            #expect(try await eventually { await anna.snapshot.connection == .reconnecting })
            // And when it leaves and stops, then nothing is left
            await anna.leave()
            #expect(await anna.snapshot.connection == .outside)
            await anna.stop()
            #expect(await !anna.snapshot.isRunning)
            await ben.stop()
        }

        @Test("muting before the start is told to the room, and unmuting too")
        func muted() async throws {
            let room = try LoopbackRoom()
            defer { room.close() }
            let (anna, ben) = (try modestEngine(), try modestEngine())
            // Given anna, who muted before anything else
            try await anna.setMuted(true)
            try await anna.start()
            try await anna.join(room.endpoint("anna"))
            // When ben comes later
            try await ben.start()
            let events = ben.events
            let annaThere = try #require(try await ben.join(room.endpoint("ben")).first)
            // Then he knows that she is muted
            #expect(await events.first { $0.mute(of: annaThere.id) } == true)
            // And when she unmutes, that too
            try await anna.setMuted(false)
            #expect(await events.first { $0.mute(of: annaThere.id) } == false)
            #expect(try await eventually { (try await ben.statistics().streams.first?.bytesReceived ?? 0) > 500 })
            await anna.stop()
            await ben.stop()
        }

        @Test("a token that opens nothing is refused by what is wrong with it; a right one then lets in")
        func tokens() async throws {
            let room = try LoopbackRoom()
            defer { room.close() }
            let engine = try modestEngine()
            try await engine.start()
            func refusal(_ endpoint: RoomEndpoint) async -> RoomRefusal? {
                do {
                    try await engine.join(endpoint)
                } catch {
                    if case .room(.session(.refused(let refusal, _))) = error { return refusal }
                    Issue.record(error)
                }
                return nil
            }
            #expect(await refusal(try room.endpoint("anna", secret: [UInt8](repeating: 8, count: 32))) == .badSignature)
            #expect(await refusal(try room.endpoint("anna", for: -60)) == .expired)
            let nonsense = try RoomEndpoint(url: "udp://127.0.0.1:\(room.port)", token: "nonsense")
            #expect(await refusal(nonsense) == .malformed)
            // None of them has left anything behind
            #expect(try await engine.join(room.endpoint("anna")).isEmpty)
            await engine.stop()
        }

        @Test("a host that nobody knows is told; so is one that may not be spoken to in the clear")
        func hosts() async throws {
            let engine = try modestEngine()
            try await engine.start()
            // "invalid" is a top-level domain that does not exist (RFC 2606)
            let unknown = try RoomEndpoint(url: "udp://nobody.invalid:7900", token: "t")
            do {
                try await engine.join(unknown)
                Issue.record("joined nobody.invalid")
            } catch {
                switch error {
                case .room(.unknownHost("nobody.invalid")), .room(.nameServiceUnavailable("nobody.invalid")): break
                default: Issue.record(error)
                }
            }
            // 192.0.2.0/24 is for documentation (RFC 5737)
            let beyond = try RoomEndpoint(url: "udp://192.0.2.1:7900", token: "t")
            await expect(.transportPlaintextRefused) {
                try await engine.join(beyond)
            }
            await engine.stop()
        }

        @Test("a room server that dies: the engine notices, and comes back when there is one again")
        func killedServer() async throws {
            // Given a room that takes 0.9 s of silence for a loss
            let directory = RoomDirectoryConfiguration(keepaliveInterval: .milliseconds(300))
            let room = try LoopbackRoom(directory: directory)
            let engine = try modestEngine()
            try await engine.start()
            try await engine.join(room.endpoint("anna"))
            let events = engine.events
            // When the server dies without a word
            room.close()
            // Then that is told
            #expect(await events.wait { if case .connectionLost = $0 { true } else { false } })
            // And when another takes its port, that the engine is back
            let next = try LoopbackRoom(port: room.port, directory: directory)
            defer { next.close() }
            #expect(await events.wait { if case .reconnected = $0 { true } else { false } })
            #expect(try await eventually { next.server.statistics.participants == 1 })
            await engine.stop()
        }

        @Test("an engine that the room has put out is out: what needs a room says so, and it may join again")
        func putOut() async throws {
            let room = try LoopbackRoom()
            let engine = try modestEngine()
            try await engine.start()
            try await engine.join(room.endpoint("anna"))
            let events = engine.events
            // When the server goes down
            room.server.stop()
            let end = await events.first(\.ending)
            #expect(end == .session(.removed(.serverShuttingDown)))
            // Then nothing pretends that there still is a room
            await expect(.roomNotJoined) { try await engine.send([1]) }
            try await engine.setMuted(true)
            // And the next room may be joined without more ado
            let next = try LoopbackRoom()
            defer { next.close() }
            try await engine.join(next.endpoint("anna"))
            #expect(try await eventually { next.server.statistics.participants == 1 })
            await engine.stop()
        }

        @Test("leaving, joining and stopping at once: each call ends, and two rooms are never fed at the same time")
        func atOnce() async throws {
            let room = try LoopbackRoom()
            defer { room.close() }
            for _ in 1...5 {
                let engine = try modestEngine()
                try await engine.start()
                try await engine.join(room.endpoint("anna"))
                let endpoint = try room.endpoint("anna")
                await withTaskGroup(of: Void.self) { group in
                    group.addTask { await engine.leave() }
                    // Refused while the leave is under way, and else granted; never both rooms at once
                    for _ in 1...3 { group.addTask { _ = try? await engine.join(endpoint) } }
                    group.addTask { await engine.leave() }
                }
                await engine.stop()
                #expect(try await eventually { room.server.statistics.participants == 0 })
            }
        }

        @Test("a join that is left before it is decided ends at once")
        func leftBefore() async throws {
            let engine = try modestEngine()
            try await engine.start()
            // Given a port where nobody answers
            let silent = try LoopbackRoom()
            silent.close()
            let endpoint = try silent.endpoint("anna")
            let joining = Task { () -> ErrorCode? in
                do throws(EngineError) { try await engine.join(endpoint) } catch { return error.code }
                return nil
            }
            // When the engine is stopped while it waits for an answer
            await Task.yield()
            await engine.stop()
            // Then the join has ended, and not since its 10 s were over
            let code = await joining.value
            #expect(code != nil && code != .transportNoAnswer)
        }

        @Test("a room where nobody answers: the join times out, and the engine runs on")
        func silent() async throws {
            let room = try LoopbackRoom()
            room.close()
            let engine = try modestEngine()
            try await engine.start()
            // Takes the 10 s of `RoomTimers.joinTimeout`
            await expect(.transportNoAnswer) {
                try await engine.join(room.endpoint("anna"))
            }
            #expect(try await engine.statistics().device.capture.frames > 0)
            await engine.stop()
        }
    }
}
