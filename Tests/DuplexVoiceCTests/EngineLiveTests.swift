import CDuplexVoice
import Foundation
import Synchronization
import Testing
import VoiceEngine
import VoiceRealtime
import VoiceTransport

/// Raised once, for one who waits.
private final class WakeFlag: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    func raise() { semaphore.signal() }
    func wait() { semaphore.wait() }
}

/// What a listener has heard, on the media thread.
private struct Heard: ~Copyable {
    let listener = Atomic<dv_listener>(0)
    let frames = Atomic<Int>(0)
    /// Samples that were not sent.
    let others = Atomic<Int>(0)
    /// What it was answered when it closed itself.
    let closes = Atomic<Int32>(0)
}

private func count(_ context: UnsafeMutableRawPointer?, _ samples: UnsafePointer<Float>, _ frames: Int, _ time: Int64) {
    guard let heard = unsafe context?.assumingMemoryBound(to: Heard.self) else { return }
    for index in 0..<frames where unsafe samples[index] != 0.25 {
        unsafe heard.pointee.others.wrappingAdd(1, ordering: .relaxed)
    }
    let listener = unsafe heard.pointee.listener.load(ordering: .relaxed)
    if listener != 0 { unsafe heard.pointee.closes.store(dv_listener_close(listener).rawValue, ordering: .relaxed) }
    unsafe heard.pointee.frames.wrappingAdd(frames, ordering: .relaxed)
}

extension LibraryTests {
    @Suite("Engines that run")
    struct EngineLiveTests {
        @Test("starts, stops and starts again; what comes out of turn is refused")
        func lifecycle() throws {
            let engine = try CEngine()
            for _ in 1...2 {
                #expect(engine.start() == DV_OK)
                #expect(engine.start() == DV_WRONG_STATE && text(of: engine.error.code) == "engine.alreadyStarted")
                #expect(engine.snapshot.is_running == 1 && engine.snapshot.connection == UInt32(DV_ROOM_OUTSIDE))
                var (error, taken) = (dv_error(), 0)
                let sound = [Float](repeating: 0.1, count: 480)
                #expect(unsafe dv_send_capture(engine.handle, sound, 480, 0, &taken) == DV_OK && taken == 480)
                #expect(unsafe dv_send_reference(engine.handle, sound, 480, 0, &taken) == DV_OK && taken == 480)
                #expect(unsafe dv_engine_set_muted(engine.handle, 1, &error) == DV_OK && engine.snapshot.is_muted == 1)
                #expect(unsafe dv_engine_set_output_volume(engine.handle, 2, &error) == DV_INVALID_ARGUMENT)
                #expect(unsafe dv_engine_set_output_volume(engine.handle, 0.5, &error) == DV_OK)
                var agent = settings(of: DV_PRESET_VOICE_AGENT)
                #expect(unsafe dv_engine_apply(engine.handle, &agent, &error) == DV_OK)
                #expect(unsafe dv_engine_apply_preset(engine.handle, UInt32(DV_ENGINE_CAR), &error) == DV_OK)
                #expect(unsafe dv_engine_set_route(engine.handle, UInt32(DV_ROUTE_SPEAKER), &error) == DV_OK)
                #expect(unsafe dv_engine_begin_utterance(engine.handle, 1, &error) == DV_OK)
                #expect(engine.statistics.size == 160)
                #expect(engine.stop() == DV_OK && engine.snapshot.is_running == 0)
            }
        }

        @Test("a meter tells how loud both ends are, of the newest interval, and goes on telling it after the engine")
        func meter() throws {
            var engine: CEngine? = try CEngine()
            #expect(engine?.start() == DV_OK)
            let handle = try #require(engine?.handle)
            var (meter, error, levels) = (0 as dv_meter, dv_error(), dv_levels.empty)
            #expect(unsafe dv_engine_open_meter(handle, 9, &meter, &error) == DV_INVALID_ARGUMENT && meter == 0)
            #expect(unsafe dv_engine_open_meter(handle, 10_000, &meter, &error) == DV_OK)
            #expect(unsafe dv_meter_read(meter, &levels) == DV_OK && dv_meter_close(meter) == DV_OK)
            #expect(levels.number == 0 && levels.captured_rms.isNaN && levels.near_speaks == -1)
            // When the microphone is at half of full scale, at the pace of a sound card, for a minute at most
            #expect(unsafe dv_engine_open_meter(handle, 100, &meter, &error) == DV_OK)
            let heard = [Float](repeating: 0.5, count: 480)
            var played = [Float](repeating: 0, count: 480)
            for _ in 0..<6_000 where !(levels.number >= 2 && abs(levels.captured_rms + 6.02) < 0.1) {
                #expect(unsafe dv_send_capture(handle, heard, 480, 0, nil) == DV_OK)
                #expect(unsafe dv_pull_playback(handle, &played, 480, 0, nil) == DV_OK)
                usleep(10_000)
                #expect(unsafe dv_meter_read(meter, &levels) == DV_OK)
            }
            #expect(levels.number >= 2 && levels.time_ns > 0 && levels.duration_ns >= 100_000_000)
            #expect(abs(levels.captured_peak + 6.02) < 0.1)
            #expect(levels.far_rms == -127 && levels.far_speaks != 1)
            engine = nil
            #expect(unsafe dv_meter_read(meter, &levels) == DV_OK && levels.number >= 2)
            #expect(dv_meter_close(meter) == DV_OK && dv_meter_close(meter) == DV_INVALID_HANDLE)
            #expect(unsafe dv_meter_read(meter, &levels) == DV_INVALID_HANDLE)
        }

        @Test("a sound card that is not there is named, with what to do")
        func noCard() throws {
            let engine = unsafe try "nosuchcard".withCString { name in
                try unsafe CEngine {
                    unsafe $0.sound = UInt32(DV_SOUND_CARDS)
                    unsafe $0.capture_device = unsafe name
                    unsafe $0.playback_device = unsafe name
                }
            }
            #expect(engine.start() == DV_DEVICE_FAILED)
            #expect(text(of: engine.error.code) == "device.notFound")
            #expect(text(of: engine.error.message).contains("nosuchcard"))
            #expect(text(of: engine.error.remedy).contains("duplex devices"))
        }

        @Test("whoever waits for an event goes on when the engine is destroyed")
        func destroyedUnderWait() async throws {
            var (made, config) = (0 as dv_engine, unsafe dv_engine_config.empty)
            unsafe config.sound = UInt32(DV_SOUND_CLIENT)
            #expect(unsafe dv_engine_create(&config, &made, nil) == DV_OK)
            let engine = made
            let status = await withCheckedContinuation { done in
                Thread.detachNewThread {
                    var event = dv_event.empty
                    done.resume(returning: unsafe dv_engine_next_event(engine, -1, &event))
                }
                Thread.detachNewThread {
                    // Before or within the wait: both end.
                    while dv_engine_destroy(engine) == DV_BUSY {}
                }
            }
            #expect(status == DV_INVALID_HANDLE)
        }

        @Test("a far end is heard, taken back in the middle, and tells how much was heard")
        func farEnd() throws {
            let engine = try CEngine()
            #expect(engine.start() == DV_OK)
            var (farEnd, error, taken) = (0 as dv_far_end, dv_error(), 0)
            var config = dv_far_end_config.empty
            config.near_end_rate = 48_000
            #expect(unsafe dv_far_end_open(engine.handle, &config, &farEnd, &error) == DV_OK)
            // Given 2 s of an utterance
            let said = [Int16](repeating: 8_000, count: 48_000)
            #expect(
                unsafe dv_far_end_offer_int16(farEnd, said, 48_000, 24_000, 1, 1, &taken) == DV_OK && taken == 48_000)
            #expect(unsafe dv_far_end_offer(farEnd, [0], 1, 44_100, 2, 0, &taken) == DV_INVALID_ARGUMENT)
            #expect(unsafe dv_far_end_offer(farEnd, [0], 1, 48_000, 0, 0, &taken) == DV_INVALID_ARGUMENT)
            // When it is played, and given up as soon as it is heard
            var (heard, near) = (0, 0)
            var sound = [Float](repeating: 0, count: 480)
            // At the pace of a sound card, for a minute at most.
            for _ in 0..<6_000 where heard < 10 {
                #expect(unsafe dv_pull_playback(engine.handle, &sound, 480, 0, nil) == DV_OK)
                heard += sound.contains { $0 > 0.1 } ? 1 : 0
                var hearing = [Float](repeating: 0, count: 480)
                #expect(unsafe dv_send_capture(engine.handle, hearing, 480, 0, nil) == DV_OK)
                #expect(unsafe dv_far_end_take(farEnd, &hearing, 480, &taken, nil) == DV_OK)
                near += taken
                usleep(10_000)
            }
            #expect(heard == 10 && dv_far_end_interrupt(farEnd, 1) == DV_OK)
            // Then it falls silent, and the receipt says how much of it was heard
            #expect(engine.next(DV_EVENT_UTTERANCE_STARTED)?.far_end == farEnd)
            var played: dv_event?
            for _ in 0..<6_000 where played == nil {
                #expect(unsafe dv_pull_playback(engine.handle, &sound, 480, 0, nil) == DV_OK)
                played = engine.next(DV_EVENT_UTTERANCE_PLAYED, milliseconds: 10)
            }
            #expect(played?.utterance == 1 && played?.value == 0)
            #expect((50_000_000..<2_000_000_000).contains(played?.duration_ns ?? 0))
            #expect(near > 0)
            // And what still comes of it is taken to no effect
            #expect(unsafe dv_far_end_offer_int16(farEnd, said, 480, 24_000, 1, 0, &taken) == DV_OK && taken == 480)
            #expect(
                dv_far_end_set_volume(farEnd, 5) == DV_INVALID_ARGUMENT && dv_far_end_set_volume(farEnd, 1) == DV_OK)
            #expect(dv_far_end_close(farEnd) == DV_OK && dv_far_end_close(farEnd) == DV_INVALID_HANDLE)
            #expect(engine.next(DV_EVENT_FAR_END_CLOSED)?.far_end == farEnd)
        }

        @Test("Given a far end whose engine has stopped, then all that is offered is taken, however much it is")
        func farEndOfStopped() throws {
            let engine = try CEngine()
            #expect(engine.start() == DV_OK)
            var (farEnd, stream, error, taken) = (0 as dv_far_end, 0 as dv_far_end, dv_error(), 0)
            #expect(unsafe dv_far_end_open(engine.handle, nil, &farEnd, &error) == DV_OK)
            #expect(unsafe dv_engine_publish_stream(engine.handle, "music", 0, nil, &stream, &error) == DV_OK)
            #expect(engine.stop() == DV_OK)
            let second = [Float](repeating: 0.1, count: 48_000)
            for end in [farEnd, stream] {
                // More than a queue takes, of one utterance and of later ones.
                for utterance in 1...2 as ClosedRange<UInt32> {
                    for _ in 0..<40 {
                        taken = 0
                        #expect(unsafe dv_far_end_offer(end, second, 48_000, 48_000, utterance, 0, &taken) == DV_OK)
                        #expect(taken == 48_000)
                    }
                }
                #expect(dv_far_end_close(end) == DV_OK)
            }
        }

        @Test("Given calls of a far end's control side, then a conversation is closed beside them")
        func closedBesideControl() throws {
            for _ in 0..<30 {
                let engine = try CEngine()
                #expect(engine.start() == DV_OK)
                var (talk, made, error) = (0 as dv_conversation, 0 as dv_far_end, dv_error())
                #expect(unsafe dv_conversation_open(engine.handle, nil, &talk, &made, &error) == DV_OK)
                let (farEnd, hasEnded) = (made, WakeFlag())
                Thread.detachNewThread {
                    while dv_far_end_set_volume(farEnd, 1) != DV_INVALID_HANDLE {}
                    hasEnded.raise()
                }
                let status = dv_conversation_close(talk)
                #expect(status == DV_OK)
                while status == DV_BUSY, dv_conversation_close(talk) == DV_BUSY {}
                hasEnded.wait()
            }
        }

        @Test("an answer is heard to its end, another cancelled, and what is out of turn refused")
        func conversation() throws {
            let engine = try CEngine()
            #expect(engine.start() == DV_OK)
            var (talk, farEnd, error) = (0 as dv_conversation, 0 as dv_far_end, dv_error())
            var config = dv_conversation_config.empty
            config.mode = UInt32(DV_TALK_PUSH)
            #expect(unsafe dv_conversation_open(engine.handle, &config, &talk, &farEnd, &error) == DV_OK)
            var (other, otherEnd) = (9 as dv_conversation, 9 as dv_far_end)
            #expect(unsafe dv_conversation_open(engine.handle, nil, &other, &otherEnd, &error) == DV_WRONG_STATE)
            #expect(other == 0 && otherEnd == 0 && text(of: error.code) == "turn.conversing")
            // When the agent begins by itself
            var (utterance, taken) = (0 as UInt32, 0)
            #expect(unsafe dv_conversation_answer(talk, 7, &utterance, &error) == DV_WRONG_STATE)
            #expect(unsafe dv_conversation_answer(talk, 0, &utterance, &error) == DV_OK)
            let said = [Float](repeating: 0.3, count: 9_600)
            #expect(unsafe dv_conversation_say(talk, said, 9_600, 44_100, utterance, &taken) == DV_INVALID_ARGUMENT)
            // Of what is no answer nothing is taken, nor is it finished, and what follows is heard all the same
            for stranger in [0, utterance + 1, 1_000] {
                #expect(dv_conversation_finish(talk, stranger) == DV_INVALID_ARGUMENT)
                #expect(unsafe dv_conversation_caption(talk, stranger, "x") == DV_INVALID_ARGUMENT)
                #expect(unsafe dv_conversation_say(talk, said, 9_600, 48_000, stranger, &taken) == DV_INVALID_ARGUMENT)
            }
            // And its words are there, of which nothing was heard yet
            func caption(room: Int) -> (dv_status, String, Int, Int) {
                var (bytes, count, heard) = ([CChar](repeating: 1, count: 32), 0, 0)
                let status = unsafe dv_conversation_get_caption(talk, utterance, &bytes, room, &count, &heard)
                let text = String(decoding: bytes.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
                return (status, text, count, heard)
            }
            #expect(unsafe dv_conversation_caption(talk, utterance, "Good ") == DV_OK)
            #expect(unsafe dv_conversation_caption(talk, utterance, "morning") == DV_OK)
            #expect(caption(room: 32) == (DV_OK, "Good morning", 12, 0))
            #expect(caption(room: 5) == (DV_OK, "Good", 12, 0))
            // And its agent tells of its stages, if they can be
            var (stages, heard, latency) = (dv_agent_stages.empty, 7 as Int64, dv_answer_latency.empty)
            (stages.recognised_ns, stages.first_token_ns, stages.first_sound_ns) = (-1, 50_000_000, 20_000_000)
            #expect(
                unsafe dv_conversation_report_stages(talk, utterance, &stages, &error) == DV_INVALID_ARGUMENT)
            stages.first_sound_ns = 80_000_000
            #expect(unsafe dv_conversation_report_stages(talk, utterance, &stages, &error) == DV_OK)
            #expect(unsafe dv_conversation_report_stages(talk, 1_000, &stages, &error) == DV_WRONG_STATE)
            #expect(unsafe dv_conversation_heard(talk, utterance, &heard) == DV_OK && heard == 0)
            #expect(unsafe dv_conversation_latency(talk, 7, &latency) == DV_WRONG_STATE)
            #expect(unsafe dv_conversation_say(talk, said, 9_600, 48_000, utterance, &taken) == DV_OK)
            #expect(taken == 9_600 && dv_conversation_finish(talk, utterance) == DV_OK)
            // Then it is heard to its end
            var sound = [Float](repeating: 0, count: 480)
            var ended: dv_event?
            for _ in 0..<6_000 where ended == nil {
                #expect(unsafe dv_pull_playback(engine.handle, &sound, 480, 0, nil) == DV_OK)
                ended = engine.next(DV_EVENT_ANSWER_ENDED, milliseconds: 10)
            }
            #expect(ended?.value == Int64(DV_END_COMPLETE) && ended?.far_end == farEnd)
            #expect(ended?.duration_ns == 200_000_000)
            #expect(caption(room: 32).3 == 12)
            #expect(unsafe dv_conversation_heard(talk, utterance, &heard) == DV_OK)
            #expect(heard > 150_000_000 && heard <= 200_000_000, "\(heard)")
            #expect(unsafe dv_conversation_report_stages(talk, utterance, &stages, &error) == DV_WRONG_STATE)
            // And nobody has the turn until the button is pressed
            #expect(unsafe dv_conversation_cancel(talk, &error) == DV_WRONG_STATE)
            #expect(text(of: error.code) == "turn.idle")
            #expect(unsafe dv_conversation_stop_speech(talk, &error) == DV_WRONG_STATE)
            #expect(unsafe dv_conversation_start_speech(talk, &error) == DV_OK)
            #expect(unsafe dv_conversation_start_speech(talk, &error) == DV_WRONG_STATE)
            #expect(dv_conversation_confirm(talk) == DV_OK)
            // Nor is the end of a turn near in which nobody has fallen silent; that it ends now may be said at any time
            #expect(unsafe dv_conversation_put_off_end(talk, 1_000, &error) == DV_WRONG_STATE)
            #expect(text(of: error.code) == "turn.notListening")
            #expect(unsafe dv_conversation_end_turn(talk, &error) == DV_OK)
            #expect(unsafe dv_conversation_end_turn(talk, &error) == DV_WRONG_STATE)
            #expect(engine.next(DV_EVENT_TURN_DROPPED)?.value == Int64(DV_END_NOTHING_SAID))
            #expect(unsafe dv_conversation_start_speech(talk, &error) == DV_OK)
            #expect(unsafe dv_conversation_cancel(talk, &error) == DV_OK)
            #expect(engine.next(DV_EVENT_TURN_DROPPED)?.value == Int64(DV_END_CANCELLED))
            // And another mode is of another button, or of none
            #expect(unsafe dv_conversation_set_mode(talk, 3, 0, &error) == DV_INVALID_ARGUMENT)
            #expect(unsafe dv_conversation_set_mode(talk, UInt32(DV_TALK_TAP), 11_000, &error) == DV_INVALID_ARGUMENT)
            #expect(unsafe dv_conversation_set_mode(talk, UInt32(DV_TALK_DUPLEX), 300, &error) == DV_OK)
            #expect(unsafe dv_conversation_start_speech(talk, &error) == DV_WRONG_STATE)
            #expect(unsafe dv_conversation_set_mode(talk, UInt32(DV_TALK_TAP), 0, &error) == DV_OK)
            #expect(unsafe dv_conversation_start_speech(talk, &error) == DV_OK)
            // Which drops a turn that is under way
            #expect(unsafe dv_conversation_set_mode(talk, UInt32(DV_TALK_PUSH), 0, &error) == DV_OK)
            #expect(engine.next(DV_EVENT_TURN_DROPPED) != nil)
            // And both handles end at once, and another conversation may begin
            #expect(dv_conversation_close(talk) == DV_OK && dv_conversation_close(talk) == DV_INVALID_HANDLE)
            #expect(unsafe dv_conversation_set_mode(talk, 0, 0, &error) == DV_INVALID_HANDLE)
            #expect(dv_far_end_close(farEnd) == DV_INVALID_HANDLE)
            #expect(unsafe dv_conversation_open(engine.handle, nil, &talk, &farEnd, &error) == DV_OK)
            #expect(unsafe dv_conversation_start_speech(talk, &error) == DV_WRONG_STATE)
            #expect(text(of: error.code) == "turn.notInThisMode")
            #expect(dv_far_end_close(farEnd) == DV_OK && dv_conversation_close(talk) == DV_OK)
        }

        @Test("a listener hears the microphone on the media thread, and nothing once it was closed")
        func listener() throws {
            let engine = try CEngine()
            var (listener, error) = (7 as dv_listener, dv_error())
            let heard = UnsafeMutablePointer<Heard>.allocate(capacity: 1)
            unsafe heard.initialize(to: Heard())
            defer {
                unsafe heard.deinitialize(count: 1)
                unsafe heard.deallocate()
            }
            let captured = UInt32(DV_POINT_CAPTURED)
            func listen(_ point: UInt32, _ participant: UInt32 = 0) -> dv_status {
                unsafe dv_engine_listen(engine.handle, point, participant, count, heard, &listener, &error)
            }
            #expect(listen(captured) == DV_WRONG_STATE && listener == 0)
            #expect(engine.start() == DV_OK)
            let wrong: [(UInt32, UInt32)] = [(0, 0), (6, 0), (captured, 1), (UInt32(DV_POINT_PARTICIPANT), 0)]
            for (point, participant) in wrong {
                #expect(listen(point, participant) == DV_INVALID_ARGUMENT && listener == 0, "\(point)")
            }
            #expect(unsafe dv_engine_listen(engine.handle, 1, 0, nil, nil, &listener, &error) == DV_INVALID_ARGUMENT)
            #expect(unsafe dv_engine_listen(engine.handle, 1, 0, count, nil, nil, &error) == DV_INVALID_ARGUMENT)
            // When
            #expect(listen(captured) == DV_OK && listener != 0)
            unsafe heard.pointee.listener.store(listener, ordering: .relaxed)
            let sound = [Float](repeating: 0.25, count: 480)
            for _ in 0..<60_000 where unsafe heard.pointee.frames.load(ordering: .relaxed) < 4_800 {
                #expect(unsafe dv_send_capture(engine.handle, sound, 480, 0, nil) == DV_OK)
                usleep(1_000)
            }
            // Then
            #expect(unsafe heard.pointee.others.load(ordering: .relaxed) == 0)
            #expect(unsafe heard.pointee.closes.load(ordering: .relaxed) == DV_WRONG_STATE.rawValue)
            #expect(dv_listener_close(listener) == DV_OK && dv_listener_close(listener) == DV_INVALID_HANDLE)
            let frames = unsafe heard.pointee.frames.load(ordering: .relaxed)
            #expect(frames >= 4_800)
            for _ in 0..<20 {
                #expect(unsafe dv_send_capture(engine.handle, sound, 480, 0, nil) == DV_OK)
                usleep(1_000)
            }
            #expect(unsafe heard.pointee.frames.load(ordering: .relaxed) == frames)
        }

        @Test("a far end outlives its engine's handle, and takes nothing more")
        func orphan() throws {
            var (farEnd, taken) = (0 as dv_far_end, 7)
            do {
                let engine = try CEngine()
                #expect(engine.start() == DV_OK)
                #expect(unsafe dv_far_end_open(engine.handle, nil, &farEnd, nil) == DV_OK)
            }
            var sound = [Float](repeating: 0, count: 480)
            #expect(unsafe dv_far_end_take(farEnd, &sound, 480, &taken, nil) == DV_OK && taken == 0)
            #expect(dv_far_end_interrupt(farEnd, 0) == DV_OK && dv_far_end_close(farEnd) == DV_OK)
        }

        // Unoptimised generic code of the standard library allocates by nature.
        #if DEBUG
            private static let isCounted = false
        #else
            private static let isCounted = RealtimeWatch.allocations != nil
        #endif

        @Test(
            "calls of the sound sides allocate nothing", .enabled(if: isCounted, "needs optimised code and the counter")
        )
        func allocations() throws {
            let engine = try CEngine()
            #expect(engine.start() == DV_OK)
            var (farEnd, taken, time) = (0 as dv_far_end, 0, 0 as Int64)
            #expect(unsafe dv_far_end_open(engine.handle, nil, &farEnd, nil) == DV_OK)
            var (sound, heard) = ([Float](repeating: 0.1, count: 480), [Float](repeating: 0.1, count: 480))
            var failures = 0
            let before = RealtimeWatch.allocations
            for _ in 0..<100 {
                failures += unsafe dv_send_capture(engine.handle, sound, 480, 0, &taken) == DV_OK ? 0 : 1
                failures += unsafe dv_pull_playback(engine.handle, &heard, 480, 0, &taken) == DV_OK ? 0 : 1
                failures += unsafe dv_send_reference(engine.handle, sound, 480, 0, &taken) == DV_OK ? 0 : 1
                failures += unsafe dv_far_end_offer(farEnd, sound, 480, 48_000, 1, 0, &taken) == DV_OK ? 0 : 1
                failures += unsafe dv_far_end_take(farEnd, &sound, 480, &taken, &time) == DV_OK ? 0 : 1
            }
            #expect(RealtimeWatch.allocations == before && failures == 0)
            #expect(dv_far_end_close(farEnd) == DV_OK)
        }
    }
}
