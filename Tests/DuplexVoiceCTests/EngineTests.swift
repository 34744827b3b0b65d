import CDuplexVoice
import Glibc
import Testing
import VoiceEngine

@testable import DuplexVoiceC

extension LibraryTests {
    @Suite("An engine that does nothing yet")
    struct EngineTests {
        @Test("a field out of its range is named with what to do")
        func fields() throws {
            func refusal(_ change: (inout dv_engine_config) -> Void) -> String {
                do { _ = try unsafe CEngine(change) } catch let refusal as Refusal {
                    #expect(refusal.status == DV_INVALID_ARGUMENT)
                    return refusal.message
                } catch { Issue.record(error) }
                return ""
            }
            unsafe #expect(refusal { unsafe $0.preset = 8 }.hasPrefix("config.preset is 8; take"))
            unsafe #expect(refusal { unsafe $0.sound = 2 }.hasPrefix("config.sound is 2; take"))
            unsafe #expect(refusal { unsafe $0.backend = 4 }.hasPrefix("config.backend is 4; take"))
            unsafe #expect(refusal { unsafe $0.route = 3 }.hasPrefix("config.route is 3; take"))
            unsafe #expect(refusal { unsafe $0.memory_lock = 2 }.hasPrefix("config.memory_lock is 2; take"))
            unsafe #expect(refusal { unsafe $0.priority = 100 }.hasPrefix("config.priority is 100; take"))
            unsafe #expect(refusal { unsafe $0.maximum_talkers = 17 }.hasPrefix("maximumStreams is 17; use 1...16"))
            unsafe #expect(refusal { unsafe $0.packet_ms = 15 }.hasPrefix("config.packet_ms is 15.0; take"))
            unsafe #expect(refusal { unsafe $0.packet_ms = .nan }.hasPrefix("config.packet_ms is nan; take"))
            unsafe #expect(refusal { unsafe $0.bitrate_bps = 100 }.contains("100 bits per second"))
            unsafe "hw:0".withCString { name in
                unsafe #expect(refusal { unsafe $0.capture_device = name }.hasPrefix("config names a sound card, and"))
            }
            unsafe [CChar]([-1, 0]).withUnsafeBufferPointer { bytes in
                unsafe #expect(
                    refusal { unsafe $0.capture_device = bytes.baseAddress } == "config.capture_device is not UTF-8")
            }
        }

        @Test("a microphone is on the card's channels that are named, and on no others")
        func captureChannels() throws {
            func configuration(_ first: UInt32, _ last: UInt32) throws -> EngineConfiguration {
                var config = unsafe dv_engine_config.empty
                unsafe config.first_capture_channel = first
                unsafe config.last_capture_channel = last
                return try unsafe EngineConfiguration(config)
            }
            func channels(_ first: UInt32, _ last: UInt32) throws -> ChannelMix? {
                guard case .alsa(let card) = try configuration(first, last).device else { return nil }
                #expect(card.captureName == "default" && card.playbackName == "default")
                return card.captureChannels
            }
            #expect(try channels(0, 0) == nil)
            #expect(try channels(3, 0) == .channel(2))
            #expect(try channels(3, 4) == .channels(2...3))
            for (first, last) in [(0, 4), (4, 3), (1, 257), (257, 0)] as [(UInt32, UInt32)] {
                #expect(throws: Failure.self) { _ = try configuration(first, last) }
            }
            #expect(throws: Refusal.self) { _ = unsafe try CEngine { unsafe $0.first_capture_channel = 1 } }
        }

        @Test("a packet has any length that the codec has", arguments: OpusFrameDuration.allCases)
        func packets(duration: OpusFrameDuration) throws {
            var config = unsafe dv_engine_config.empty
            unsafe config.packet_ms = Float(duration.frames) / 48
            let configuration = try unsafe EngineConfiguration(config)
            #expect(configuration.encoder.frameDuration == duration)
        }

        @Test("what is asked at the wrong time is refused by name, and with what to do")
        func wrongTime() throws {
            let owner = try CEngine()
            defer { withExtendedLifetime(owner) {} }
            let engine = owner.handle
            var error = dv_error()
            var talker = dv_talker_statistics.empty
            var farEnd: dv_far_end = 9
            var meter: dv_meter = 9
            var bypass = settings(of: DV_PRESET_BYPASS)
            var participant = dv_participant.empty
            let notStarted = [
                unsafe dv_engine_join(engine, "udp://127.0.0.1:9", "x", nil, &error),
                unsafe dv_engine_set_output_volume(engine, 1, &error), unsafe dv_engine_apply(engine, &bypass, &error),
                unsafe dv_engine_apply_preset(engine, UInt32(DV_ENGINE_CAR), &error),
                unsafe dv_engine_open_meter(engine, 100, &meter, &error),
                unsafe dv_engine_set_route(engine, 1, &error), unsafe dv_engine_begin_utterance(engine, 1, &error),
                unsafe dv_engine_get_talker(engine, 1, &talker, &error),
                unsafe dv_engine_select_devices(engine, "null", "null", &error),
                unsafe dv_far_end_open(engine, nil, &farEnd, &error),
            ]
            #expect(notStarted.allSatisfy { $0 == DV_WRONG_STATE })
            #expect(farEnd == 0 && meter == 0 && error.status == DV_WRONG_STATE && error.is_retryable == 0)
            #expect(text(of: error.code) == "engine.notStarted" && text(of: error.remedy) == "call start() first")
            let notJoined = [
                unsafe dv_engine_send(engine, 0, "x", 1, &error), unsafe dv_engine_interrupt(engine, 0, &error),
                unsafe dv_engine_set_volume(engine, 1, 1, &error),
                unsafe dv_engine_set_barge_in(engine, 1, UInt32(DV_BARGE_IN_STAGES), &error),
                unsafe dv_engine_get_participant(engine, 1, &participant, &error),
            ]
            #expect(notJoined.allSatisfy { $0 == DV_WRONG_STATE } && text(of: error.code) == "room.notJoined")
            // What is no error: to leave, to stop, to mute
            #expect(unsafe dv_engine_leave(engine, &error) == DV_OK && dv_engine_stop(engine, &error) == DV_OK)
            #expect(unsafe dv_engine_set_muted(engine, 1, &error) == DV_OK)
            #expect(error.status == DV_OK && text(of: error.code) == "" && text(of: error.message) == "")
        }

        @Test("null and what is out of range is refused, and nothing is written")
        func arguments() throws {
            let owner = try CEngine()
            defer { withExtendedLifetime(owner) {} }
            let engine = owner.handle
            var error = dv_error()
            var (count, descriptor) = (7, Int32(0))
            var event = dv_event.empty
            var sound = [Float](repeating: 1, count: 8)
            let refused = [
                unsafe dv_engine_join(engine, nil, "x", nil, &error),
                unsafe dv_engine_join(engine, "x", nil, nil, &error),
                unsafe dv_engine_join(engine, "http://x", "x", nil, &error),
                unsafe dv_engine_set_muted(engine, 2, &error), unsafe dv_engine_set_output_volume(engine, .nan, &error),
                unsafe dv_engine_apply(engine, nil, &error), unsafe dv_engine_set_route(engine, 9, &error),
                unsafe dv_engine_apply_preset(engine, 8, &error),
                unsafe dv_engine_open_meter(engine, 100, nil, &error),
                unsafe dv_engine_set_barge_in(engine, 1, 3, &error),
                unsafe dv_engine_send(engine, 0, nil, 1, &error), unsafe dv_engine_send(engine, 0, "", 2_000, &error),
                unsafe dv_engine_get_participants(engine, nil, 1, &count),
                dv_engine_get_participants(engine, nil, 0, nil),
                dv_engine_get_snapshot(engine, nil), dv_engine_next_event(engine, 0, nil),
                unsafe dv_engine_next_event(engine, -2, &event), dv_engine_event_descriptor(engine, nil),
                dv_send_capture(engine, nil, 8, 0, nil), dv_send_reference(engine, nil, 8, 0, nil),
                dv_pull_playback(engine, nil, 8, 0, nil), unsafe dv_pull_playback(engine, &sound, -1, 0, nil),
                unsafe dv_send_capture(engine, sound, (1 << 20) + 1, 0, nil),
            ]
            #expect(refused.allSatisfy { $0 == DV_INVALID_ARGUMENT }, "\(refused.map(\.rawValue))")
            #expect(sound.allSatisfy { $0 == 1 })
            event.size = 3
            #expect(unsafe dv_engine_next_event(engine, 0, &event) == DV_INVALID_SIZE)
            #expect(unsafe dv_engine_get_participants(engine, nil, 0, &count) == DV_OK && count == 0)
            #expect(unsafe dv_engine_event_descriptor(engine, &descriptor) == DV_OK && descriptor > 2)
        }

        @Test("of more names of streams than there may be it is said what was asked too often, and what to do")
        func streamNames() throws {
            let engine = try CEngine()
            var error = dv_error()
            for number in 0..<256 {
                #expect(unsafe dv_engine_play_stream(engine.handle, "stream \(number)", &error) == DV_OK)
            }
            #expect(unsafe dv_engine_play_stream(engine.handle, "one more", &error) == DV_WRONG_STATE)
            #expect(text(of: error.code) == "room.tooManyStreamNames")
            #expect(unsafe dv_engine_play_stream(engine.handle, "stream 7", &error) == DV_OK)
            // And a stream of the program's own is refused a rate that is none, though nothing is heard from it
            var (config, stream) = (dv_far_end_config.empty, 7 as dv_far_end)
            config.near_end_rate = 44_100
            let status = unsafe dv_engine_publish_stream(engine.handle, "music", 0, &config, &stream, &error)
            #expect(status == DV_INVALID_ARGUMENT && stream == 0)
            #expect(text(of: error.message).contains("near_end_rate is 44100"))
        }

        @Test("without an engine that runs the loudspeaker gets silence, whatever the status")
        func silence() throws {
            var sound = [Float](repeating: 1, count: 480)
            var given = 7
            let cards = unsafe try CEngine { unsafe $0.sound = UInt32(DV_SOUND_CARDS) }
            let engine = try CEngine()
            for (handle, status) in [
                (engine.handle, DV_OK), (cards.handle, DV_WRONG_STATE), (12_345, DV_INVALID_HANDLE),
            ] {
                sound = [Float](repeating: 1, count: 480)
                #expect(unsafe dv_pull_playback(handle, &sound, 480, 0, &given) == status)
                #expect(sound.allSatisfy { $0 == 0 })
            }
            #expect(unsafe dv_send_capture(engine.handle, sound, 480, 0, &given) == DV_OK && given == 0)
            #expect(unsafe dv_send_capture(cards.handle, sound, 480, 0, &given) == DV_WRONG_STATE)
            #expect(unsafe dv_send_reference(cards.handle, sound, 480, 0, &given) == DV_WRONG_STATE)
        }

        @Test("capture and playback take one call at a time each, and nothing is destroyed under one")
        func sides() throws {
            let owner = try CEngine()
            defer { withExtendedLifetime(owner) {} }
            let engine = owner.handle
            let kind = UInt8(engine >> 56)
            var (status, sound) = (DV_OK, [Float](repeating: 1, count: 8))
            #expect(unsafe dv_handle_enter(engine, kind, UInt32(DV_SIDE_SOUND), &status) != nil)
            #expect(unsafe dv_send_capture(engine, sound, 8, 0, nil) == DV_BUSY)
            #expect(unsafe dv_pull_playback(engine, &sound, 8, 0, nil) == DV_OK)
            #expect(dv_engine_destroy(engine) == DV_BUSY)
            dv_handle_leave(engine, UInt32(DV_SIDE_SOUND))
            #expect(unsafe dv_handle_enter(engine, kind, UInt32(DV_SIDE_SECOND_SOUND), &status) != nil)
            #expect(unsafe dv_send_capture(engine, sound, 8, 0, nil) == DV_OK)
            #expect(unsafe dv_send_reference(engine, sound, 8, 0, nil) == DV_BUSY)
            #expect(dv_engine_destroy(engine) == DV_BUSY)
            dv_handle_leave(engine, UInt32(DV_SIDE_SECOND_SOUND))
            #expect(dv_engine_destroy(engine) == DV_OK)
        }

        @Test("a handle that names nothing, or an object of another kind")
        func handles() throws {
            var old: dv_engine = 0
            do { old = try CEngine().handle }
            let processor = try CProcessor(backend: DV_BACKEND_BYPASS)
            var (event, snapshot, error) = (dv_event.empty, dv_engine_snapshot.empty, dv_error())
            var (statistics, count, sound) = (dv_engine_statistics.empty, 0, [Float](repeating: 0, count: 8))
            for dead in [old, 0, .max, processor.handle] {
                let statuses = [
                    dv_engine_destroy(dead), unsafe dv_engine_start(dead, &error), dv_engine_stop(dead, nil),
                    unsafe dv_engine_next_event(dead, 0, &event), unsafe dv_engine_get_snapshot(dead, &snapshot),
                    unsafe dv_engine_get_statistics(dead, &statistics),
                    unsafe dv_engine_get_participants(dead, nil, 0, &count),
                    unsafe dv_engine_join(dead, "udp://127.0.0.1:9", "x", nil, nil), dv_engine_leave(dead, nil),
                    unsafe dv_send_capture(dead, sound, 8, 0, nil), unsafe dv_pull_playback(dead, &sound, 8, 0, nil),
                    unsafe dv_send_reference(dead, sound, 8, 0, nil), dv_far_end_close(dead),
                    dv_far_end_interrupt(dead, 0), dv_far_end_set_volume(dead, 1),
                    unsafe dv_far_end_offer(dead, sound, 8, 48_000, 1, 0, nil),
                    unsafe dv_far_end_take(dead, &sound, 8, &count, nil),
                ]
                #expect(statuses.allSatisfy { $0 == DV_INVALID_HANDLE }, "\(statuses.map(\.rawValue))")
            }
            #expect(text(of: error.message).hasPrefix("the handle names no object of this kind"))
        }
    }

    @Suite("Events that wait")
    struct EventQueueTests {
        @Test("are in order; of more than there is room for the oldest are dropped and counted")
        func overflow() throws {
            let queue = try EventQueue()
            func post(_ numbers: ClosedRange<Int64>) {
                for number in numbers {
                    var event = dv_event(DV_EVENT_SPEECH)
                    event.value = number
                    queue.post(event)
                }
            }
            #expect(queue.next(timeout: .zero)?.kind == UInt32(DV_EVENT_NONE))
            post(1...300)
            let lost = queue.next(timeout: nil)
            #expect(lost?.kind == UInt32(DV_EVENT_DROPPED) && lost?.value == 44)
            for number in Int64(45)...300 { #expect(queue.next(timeout: nil)?.value == number) }
            #expect(queue.next(timeout: .zero)?.kind == UInt32(DV_EVENT_NONE))
            post(7...7)
            #expect(queue.next(timeout: .zero)?.value == 7)
            queue.close()
            #expect(queue.next(timeout: nil) == nil)
        }

        @Test("raise a descriptor for as long as they wait")
        func descriptor() throws {
            let queue = try EventQueue()
            func isRaised() -> Bool {
                var watched = pollfd(fd: queue.descriptor, events: Int16(POLLIN), revents: 0)
                return unsafe poll(&watched, 1, 0) == 1
            }
            #expect(!isRaised())
            queue.post(dv_event(DV_EVENT_RECONNECTED))
            queue.post(dv_event(DV_EVENT_RECONNECTED))
            for _ in 1...2 {
                #expect(isRaised())
                _ = queue.next(timeout: nil)
            }
            #expect(!isRaised())
            queue.close()
            #expect(isRaised())
        }
    }

    @Suite("Tokens")
    struct TokenTests {
        private static let secret = String(repeating: "s", count: 32)

        private func check(_ token: String, at time: Int64, key: String = "test", secret: String = TokenTests.secret)
            -> (dv_status, String, dv_token_grants)
        {
            var (grants, error) = (dv_token_grants.empty, dv_error())
            let status = unsafe dv_token_check(key, secret, token, time, &grants, &error)
            return (status, text(of: error.code), grants)
        }

        @Test("what is made is good for as long as it says, and for its key alone")
        func roundTrip() throws {
            let made = try token("änna", room: "kitchen", secret: Self.secret, from: 1_000, until: 1_600)
            let (status, _, grants) = check(made, at: 1_300)
            #expect(status == DV_OK)
            #expect(
                text(of: grants.identity) == "änna" && text(of: grants.room) == "kitchen" && text(of: grants.name) == ""
            )
            #expect(grants.may_not_join == 0 && grants.may_not_publish == 0 && grants.expires == 1_610)
            #expect(check(made, at: 900).1 == "token.notYetValid")
            #expect(check(made, at: 2_000).0 == DV_NOT_PERMITTED && check(made, at: 2_000).1 == "token.expired")
            #expect(check(made, at: 1_300, key: "other").1 == "token.badSignature")
            #expect(check(made, at: 1_300, secret: String(repeating: "t", count: 32)).1 == "token.badSignature")
            #expect(check("nonsense", at: 1_300).1 == "token.malformed")
        }

        @Test("what cannot be in a token is refused")
        func refused() throws {
            func refusal(_ change: (inout dv_token_grants) -> Void, secret: String = TokenTests.secret) -> String {
                var grants = dv_token_grants.empty
                set(&grants.identity, "anna")
                set(&grants.room, "kitchen")
                change(&grants)
                var bytes = [CChar](repeating: 1, count: Int(DV_TOKEN_BYTES))
                var error = dv_error()
                #expect(unsafe dv_token_create("test", secret, &grants, &bytes, &error) == DV_INVALID_ARGUMENT)
                #expect(bytes[0] == 0)
                return text(of: error.message)
            }
            #expect(refusal({ _ in }, secret: "short").hasPrefix("secret is shorter than 32 bytes"))
            #expect(refusal { set(&$0.identity, "") } == "grants.identity is empty; give one")
            #expect(refusal { set(&$0.room, String(repeating: "r", count: 129)) }.hasPrefix("grants.room is 129 bytes"))
            #expect(refusal { $0.may_not_join = 2 } == "grants.may_not_join is 2; take 0 or 1")
            #expect(refusal { $0.identity.0 = -1 } == "grants.identity is not UTF-8")
            // Nor is one made that would never open anything, as where nobody has said until when
            #expect(refusal { _ in }.hasPrefix("grants.not_before is 0 and grants.expires 0; give seconds since 1970"))
            #expect(refusal { ($0.not_before, $0.expires) = (-1, 5) }.hasPrefix("grants.not_before is -1"))
            var error = dv_error()
            #expect(unsafe dv_token_create(nil, nil, nil, nil, &error) == DV_INVALID_ARGUMENT)
            #expect(unsafe dv_token_check(nil, nil, nil, 0, nil, &error) == DV_INVALID_ARGUMENT)
            #expect(text(of: error.message) == "token is null; give one")
            #expect(unsafe dv_conversation_answer(0, 0, nil, &error) == DV_INVALID_ARGUMENT)
            #expect(text(of: error.message) == "utterance is null; say where its number goes")
            #expect(unsafe dv_engine_send(0, 0, nil, 1, &error) == DV_INVALID_ARGUMENT)
            #expect(text(of: error.message) == "bytes is null; give the message")
        }
    }
}
