import CDuplexVoice
import Foundation
import Synchronization
import TestCases
import Testing
import VoiceEngine
import VoiceSimulation
import VoiceTransport

extension LibraryTests {
    @Suite("Calls over a room")
    struct CallLiveTests {
        private static let secret = String(repeating: "s", count: 32)

        /// A room server on loopback, stopped in the end.
        private final class Room {
            let server: RoomServer
            let url: String

            init() throws {
                let key = try TokenKey(name: "test", secret: Array(CallLiveTests.secret.utf8))
                server = RoomServer(verifier: TokenVerifier(keys: [key]))
                url = "udp://127.0.0.1:\(try server.start())"
            }

            deinit { server.stop() }

            /// What lets `identity` in, made as a program of C's makes it.
            func token(_ identity: String, seconds: Int64 = 540) throws -> String {
                let now = Int64(time(nil))
                return try DuplexVoiceCTests.token(
                    identity, room: "kitchen", secret: CallLiveTests.secret, from: now - 60, until: now + seconds)
            }
        }

        @Test("two engines meet, tell, interrupt and count each other, and part")
        func meeting() throws {
            let room = try Room()
            let (anna, ben) = (try CEngine(), try CEngine())
            var error = dv_error()
            var options = unsafe dv_join_options.empty
            unsafe options.interruptible = UInt32(DV_INTERRUPTIBLE_BY_ANYONE)
            // Given both in the room
            #expect(anna.start() == DV_OK && ben.start() == DV_OK)
            #expect(unsafe dv_engine_join(anna.handle, room.url, try room.token("anna"), nil, &error) == DV_OK)
            #expect(unsafe dv_engine_join(ben.handle, room.url, try room.token("ben"), &options, &error) == DV_OK)
            #expect(unsafe dv_engine_join(ben.handle, room.url, "x", nil, &error) == DV_WRONG_STATE)
            #expect(text(of: error.code) == "room.alreadyJoined")
            // Then each knows of the other
            #expect((anna.next(DV_EVENT_JOINED).map { text(of: $0.text) }) == "kitchen")
            let arrival = try #require(anna.next(DV_EVENT_PARTICIPANT_JOINED))
            #expect(text(of: arrival.text) == "ben")
            let seen = anna.snapshot
            #expect(seen.connection == UInt32(DV_ROOM_CONNECTED) && text(of: seen.room) == "kitchen")
            #expect(seen.participants == 1 && ben.snapshot.own_participant == arrival.participant)
            var (others, count) = ([UInt32](repeating: 0, count: 2), 0)
            #expect(unsafe dv_engine_get_participants(anna.handle, &others, 2, &count) == DV_OK)
            #expect(count == 1 && others == [arrival.participant, 0])
            var participant = dv_participant.empty
            // Who comes in publishes a message later; a minute is for machines that stand still.
            for _ in 0..<60_000 where participant.is_publishing == 0 {
                let status = unsafe dv_engine_get_participant(anna.handle, arrival.participant, &participant, &error)
                try #require(status == DV_OK)
                if participant.is_publishing == 0 { usleep(1_000) }
            }
            #expect(
                text(of: participant.identity) == "ben" && participant.is_publishing == 1 && participant.is_muted == 0)
            #expect(unsafe dv_engine_get_participant(anna.handle, 99, &participant, &error) == DV_ROOM_REFUSED)
            // When they tell each other something, in both directions
            #expect(unsafe dv_engine_send(anna.handle, arrival.participant, "hello", 5, &error) == DV_OK)
            let message = try #require(ben.next(DV_EVENT_MESSAGE))
            #expect(message.participant == seen.own_participant && message.data_bytes == 5)
            #expect(text(of: message.data) == "hello")
            #expect(unsafe dv_engine_send(ben.handle, 0, "", 0, &error) == DV_OK)
            #expect(anna.next(DV_EVENT_MESSAGE)?.data_bytes == 0)
            // And anna writes, which ben reads as it stands in the end, up to where the next text begins
            func write(_ text: String?, final: UInt32 = 0) -> dv_status {
                unsafe dv_engine_set_text(anna.handle, "captions", text, final, &error)
            }
            #expect(write(nil) == DV_INVALID_ARGUMENT && write("a", final: 2) == DV_INVALID_ARGUMENT)
            #expect(write("Good") == DV_OK)
            #expect(unsafe dv_engine_append_text(anna.handle, "captions", " morning", 1, &error) == DV_OK)
            var written = try #require(ben.next(DV_EVENT_TEXT))
            while written.value == 0 { written = try #require(ben.next(DV_EVENT_TEXT)) }
            #expect(text(of: written.data) == "Good morning" && text(of: written.code) == "captions")
            #expect(written.participant == seen.own_participant && written.reserved == 12)
            #expect(unsafe dv_engine_abandon_text(anna.handle, "captions", &error) == DV_OK)
            #expect(unsafe dv_engine_abandon_text(anna.handle, nil, &error) == DV_INVALID_ARGUMENT)
            #expect(unsafe dv_engine_set_text(anna.handle, "", "x", 0, &error) == DV_INVALID_ARGUMENT)
            #expect(write(String(repeating: "x", count: 70_000)) == DV_INVALID_ARGUMENT)
            #expect(text(of: error.code) == "text.tooLong")
            // And says which words an utterance has, which ben gets as captions, though he has heard nothing of it
            func caption(_ words: String?, _ start: UInt32, _ end: Int32, isLast: UInt32 = 0) -> dv_status {
                unsafe dv_engine_add_caption(anna.handle, 3, words, start, end, isLast, &error)
            }
            #expect(caption("One two ", 0, 500) == DV_OK && caption(nil, 500, -1) == DV_INVALID_ARGUMENT)
            #expect(caption("three", 500, -1, isLast: 1) == DV_OK)
            #expect(caption("x", 400, 500) == DV_INVALID_ARGUMENT && caption("x", 600, -2) == DV_INVALID_ARGUMENT)
            var told = try #require(ben.next(DV_EVENT_CAPTION))
            while told.reserved < 13 { told = try #require(ben.next(DV_EVENT_CAPTION)) }
            #expect(text(of: told.data) == "One two three" && told.utterance == 3 && told.value == 0)
            #expect(told.participant == seen.own_participant && text(of: told.code) == "heard.partly")
            // And anna turns ben down and interrupts him, of which he is told
            #expect(unsafe dv_engine_set_volume(anna.handle, arrival.participant, 0.5, &error) == DV_OK)
            #expect(unsafe dv_engine_set_volume(anna.handle, arrival.participant, 5, &error) == DV_INVALID_ARGUMENT)
            for policy in DV_BARGE_IN_OFF...DV_BARGE_IN_IMMEDIATE {
                let status = unsafe dv_engine_set_barge_in(
                    anna.handle, arrival.participant, UInt32(policy), &error)
                #expect(status == DV_OK)
            }
            #expect(unsafe dv_engine_set_barge_in(anna.handle, 99, 0, &error) == DV_ROOM_REFUSED)
            #expect(unsafe dv_engine_interrupt(anna.handle, arrival.participant, &error) == DV_OK)
            let interruption = try #require(ben.next(DV_EVENT_INTERRUPTED))
            #expect(interruption.participant == arrival.participant && interruption.other == seen.own_participant)
            // And ben mutes, and leaves
            #expect(unsafe dv_engine_set_muted(ben.handle, 1, &error) == DV_OK)
            #expect(anna.next(DV_EVENT_PARTICIPANT_MUTED)?.value == 1)
            #expect(unsafe dv_engine_leave(ben.handle, &error) == DV_OK)
            #expect(anna.next(DV_EVENT_PARTICIPANT_LEFT)?.value == 1)
            #expect((ben.next(DV_EVENT_LEFT).map { text(of: $0.code) }) == "room.left")
            #expect(ben.snapshot.connection == UInt32(DV_ROOM_OUTSIDE))
        }

        @Test("a stay outlasts its token by the one that is given when it is asked for")
        func renewal() throws {
            let room = try Room()
            let engine = try CEngine()
            var error = dv_error()
            #expect(engine.start() == DV_OK)
            #expect(unsafe dv_engine_set_token(engine.handle, nil, &error) == DV_INVALID_ARGUMENT)
            let long = String(repeating: "x", count: 1_001)
            #expect(unsafe dv_engine_set_token(engine.handle, long, &error) == DV_INVALID_ARGUMENT)
            // Given a token that is good for 15 s, its leeway of ten included: made when a second begins, since a
            // token's end is one's
            let second = time(nil)
            while time(nil) == second { usleep(1_000) }
            let short = try room.token("anna", seconds: 5)
            #expect(unsafe dv_engine_join(engine.handle, room.url, short, nil, &error) == DV_OK)
            // When the next is asked for, and given
            #expect(engine.next(DV_EVENT_TOKEN_EXPIRING) != nil)
            #expect(unsafe dv_engine_set_token(engine.handle, try room.token("anna"), &error) == DV_OK)
            // Then the first's end is not the stay's
            sleep(4)
            #expect(engine.snapshot.connection == UInt32(DV_ROOM_CONNECTED))
        }

        @Test("a room that refuses, and one that is not there, say why")
        func refused() async throws {
            let room = try Room()
            let engine = try CEngine()
            var error = dv_error()
            #expect(engine.start() == DV_OK)
            #expect(unsafe dv_engine_join(engine.handle, room.url, "nonsense", nil, &error) == DV_NOT_PERMITTED)
            #expect(
                text(of: error.code) == "token.malformed" && text(of: error.message).hasPrefix("the room refused: "))
            #expect(unsafe dv_engine_join(engine.handle, "udp://192.0.2.1:9", "x", nil, &error) == DV_NOT_PERMITTED)
            #expect(text(of: error.code) == "transport.plaintextRefused" && text(of: error.remedy) != "")
            // A join that waits does not hold up others, and ends with a leave.
            let handle = engine.handle
            let status = await withCheckedContinuation { done in
                Thread.detachNewThread {
                    done.resume(returning: unsafe dv_engine_join(handle, "udp://127.0.0.1:9", "x", nil, nil))
                }
                var milliseconds = 0
                while engine.snapshot.connection != UInt32(DV_ROOM_CONNECTING), milliseconds < 60_000 {
                    usleep(1_000)
                    milliseconds += 1
                }
                #expect(milliseconds < 60_000, "within a minute the join has not begun")
                _ = dv_engine_leave(handle, nil)
            }
            #expect(status == DV_ROOM_REFUSED || status == DV_NETWORK_FAILED)
        }

        /// An engine of Swift's that runs on what the test gives its device.
        private static func startedEngine(of device: ClientDevice) async throws -> VoiceEngine {
            var configuration = EngineConfiguration.lowDelay
            configuration.device = .custom(device)
            (configuration.mediaPriority, configuration.networkPriority) = (0, 0)
            let engine = VoiceEngine(configuration)
            try await engine.start()
            return engine
        }

        @Test("Examples/CCall is in a call with an engine of Swift's: each hears the other")
        func example() async throws {
            let room = try Room()
            // Given an engine of Swift's in the room, whose microphone hears a tone
            let device = ClientDevice()
            let engine = try await Self.startedEngine(of: device)
            let events = engine.events
            try await engine.join(RoomEndpoint(url: room.url, token: try room.token("swift")))
            // When the program of C's comes into it
            let program = try TestProgram(TestProgram.built("CCall"), [room.url, try room.token("c")])
            // Then it is heard for half a second,
            let tone = (0..<480).map { 0.2 * sinf(Float($0) * 8 * .pi / 480) }
            var (heard, sound) = (0, [Float](repeating: 0, count: 480))
            let deadline = ContinuousClock.now + .seconds(50)
            while heard < 50, program.isRunning, ContinuousClock.now < deadline {
                device.sendAudioData(tone)
                device.pullPlayback(into: &sound)
                heard += sound.contains { abs($0) > 0.05 } ? 1 : 0
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(heard == 50)
            // and hears Swift's tone, as it says once a message ends it.
            try await engine.send(Array("bye".utf8))
            let ended = try await program.end()
            let said = ended.text
            #expect(said.hasPrefix("in room kitchen with 1 others\n"), "\(said)")
            #expect(said.contains("a message of 3 bytes\n"), "\(said)")
            let levels = said.matches(of: /received [1-9]\d*, heard (-?\d+) dBFS/).compactMap { Int($0.1) }
            #expect((levels.max() ?? -127) > -40, "\(said)")
            #expect(ended.status == 0, "\(ended.complaint)")
            withExtendedLifetime(events) {}
            await engine.stop()
        }

        @Test("Examples/CConversation says back what it is told, gives way to who speaks into that, and ends on SIGINT")
        func conversation() async throws {
            let room = try Room()
            // Given somebody in the room by an engine of Swift's
            let device = ClientDevice()
            let engine = try await Self.startedEngine(of: device)
            let events = engine.events
            let hasGivenWay = Mutex(false)
            let watch = Task {
                for await event in events {
                    guard case .interrupted = event else { continue }
                    hasGivenWay.withLock { $0 = true }
                    return
                }
            }
            try await engine.join(RoomEndpoint(url: room.url, token: try room.token("swift")))
            let program = try TestProgram(
                TestProgram.built("CConversation"), [room.url, try room.token("c")], limit: .seconds(150))
            // When they speak for three seconds and then listen, and speak again once they hear an answer for 200 ms, or
            // none for seven seconds
            let speech = SyntheticSpeech.samples(frames: 144_000, seed: 7, levelDecibels: -20)
            let silence = [Float](repeating: 0, count: 480)
            var (place, heard, sound) = (0, 0, silence)
            var due = ContinuousClock.now
            let deadline = due + .seconds(120)
            while !hasGivenWay.withLock({ $0 }), program.isRunning, due < deadline {
                let isSpeaking = place < speech.count
                device.sendAudioData(isSpeaking ? Array(speech[place..<place + 480]) : silence)
                device.pullPlayback(into: &sound)
                place += 480
                heard += !isSpeaking && sound.contains { abs($0) > 0.02 } ? 1 : 0
                if heard == 20 || place == 480_000 { (place, heard) = (0, 0) }
                due += .milliseconds(10)
                try await Task.sleep(until: due, clock: .continuous)
            }
            // Then the room hears that the answer has given way, and the program says so
            let gaveWay = hasGivenWay.withLock { $0 }
            #expect(gaveWay)
            var said = ""
            while !said.contains("it gave way"), let more = program.nextOutput() {
                said += String(decoding: more, as: UTF8.self)
            }
            #expect(said.contains(/answers for \d+\.\d\d s\n/), "\(said)")
            #expect(said.contains(/\d+\.\d\d s of it were heard: it gave way\n/), "\(said)")
            program.signal(SIGINT)
            let ended = try await program.end()
            #expect(ended.status == 0, "\(ended.complaint)")
            watch.cancel()
            await engine.stop()
        }
    }
}
