import CDuplexVoice
import Glibc
import TestCases
import Testing
import VoiceCoding
import VoiceEngine
import VoicePlayout
import VoiceRealtime
import VoiceWire

extension LibraryTests {
    @Suite("The jitter buffer")
    struct PlayoutTests {
        @Test("over a network that loses, delays and doubles it is Swift's, to the bit")
        func sameAsSwift() throws {
            let playout = try CPlayout()
            var buffer = PlayoutBuffer()
            var decoder = try OpusDecoder()
            let arrivals = try Arrival.overANetwork(seconds: 4, seed: 1)
            var next = 0
            for step in 0..<400 {
                let now = Duration.milliseconds(10 * step)
                while next < arrivals.count, arrivals[next].time <= now {
                    let arrival = arrivals[next]
                    // By turns as RTP and as what is in it.
                    if next % 2 == 0 {
                        playout.insert(arrival.packet, at: arrival.time)
                    } else {
                        playout.insertOpus(arrival)
                    }
                    #expect(playout.status == DV_OK)
                    let packet = try RTPPacket(parsing: arrival.packet.span)
                    _ = buffer.insert(packet.payload, header: packet.header, now: arrival.time)
                    next += 1
                }
                var expected = [Float](repeating: 0, count: 480)
                var room = expected.mutableSpan
                _ = buffer.pull(into: &room, now: now, decoder: &decoder)
                #expect(playout.pull(480, at: now) == expected, "block \(step)")
            }
            let (statistics, expected) = (playout.statistics, buffer.statistics)
            #expect(statistics.packets_received == expected.packetsReceived && statistics.packets_received > 150)
            #expect(statistics.packets_lost == expected.packetsLost && statistics.packets_lost > 0)
            #expect(statistics.concealed_frames == expected.concealedSamples && statistics.concealed_frames > 0)
            #expect(statistics.packets_duplicated == expected.packetsDuplicated && statistics.packets_duplicated > 0)
            #expect(statistics.played_frames == expected.jitterBufferEmittedCount)
            #expect(statistics.held_s == expected.jitterBufferDelay && statistics.held_s > 0)
            #expect(statistics.pulled_frames == 400 * 480)
            #expect(statistics.target_delay_ms == Float(buffer.targetDelay / .milliseconds(1)))
            #expect(statistics.packets_dropped == 0 && statistics.packets_unknown == 0)
        }

        @Test("what is no packet, of other types, and at wild times does no harm", arguments: cases(1...6))
        func hostile(seed: Int) throws {
            var numbers = SeededNumbers(seed: UInt64(seed))
            let playout = try CPlayout {
                $0.payload_type = 111
                $0.redundant_payload_type = 63
                $0.packets = 16
            }
            let good = try Arrival.overANetwork(seconds: 1, seed: 2)
            for step in 0..<2_000 {
                var packet =
                    numbers.chance(0.5)
                    ? good[numbers.below(good.count)].packet
                    : (0..<1 + numbers.below(200)).map { _ in UInt8(numbers.below(256)) }
                // Bytes of the header that mean something, more often than chance.
                if numbers.chance(0.7), packet.count > 1 { packet[1] = numbers.chance(0.5) ? 111 : 63 }
                for _ in 0..<numbers.below(4) { packet[numbers.below(packet.count)] = UInt8(numbers.below(256)) }
                let wild = numbers.chance(0.02) ? Int64.random(in: 0..<1 << 60, using: &numbers) : 0
                playout.insert(packet, at: .nanoseconds(max(wild, Int64(step) * 5_000_000)))
                if numbers.chance(0.5) {
                    let frames = [0, 1, 120, 480, 5_000][numbers.below(5)]
                    let late = numbers.chance(0.02) ? Int64.random(in: 0..<1 << 60, using: &numbers) : 0
                    let sound = playout.pull(frames, at: .nanoseconds(max(late, Int64(step) * 5_000_000)))
                    #expect(sound.allSatisfy { abs($0) < 16 }, "seed \(seed), step \(step)")
                }
                #expect(playout.status == DV_OK || playout.status == DV_EXHAUSTED)
            }
            let statistics = playout.statistics
            #expect(statistics.packets_malformed > 0 && statistics.packets_unknown > 0)
            #expect(statistics.waiting_packets <= 16)
        }

        @Test("a flood fills what there is, and each pull reads its share of it")
        func flood() throws {
            let playout = try CPlayout()
            let arrivals = try Arrival.inTime(packets: 300)
            for arrival in arrivals { playout.insert(arrival.packet, at: .zero) }
            #expect(playout.status == DV_EXHAUSTED)
            _ = playout.pull(480, at: .zero)
            #expect(playout.statistics.packets_received == 64 + 10)
            #expect(playout.statistics.packets_dropped == 300 - 256)
            _ = playout.pull(48, at: .milliseconds(10))
            #expect(playout.statistics.packets_received == 64 + 10 + 64 + 1)
        }

        @Test("a reset forgets what came before, and takes what comes after")
        func reset() throws {
            let playout = try CPlayout()
            let arrivals = try Arrival.inTime(packets: 50)
            func play(_ range: Range<Int>, from start: Int) -> Float {
                var loudest: Float = 0
                for index in range {
                    let now = Duration.milliseconds(20 * (index + start))
                    playout.insert(arrivals[index].packet, at: now)
                    loudest = max(loudest, playout.pull(960, at: now).map(abs).max() ?? 0)
                }
                return loudest
            }
            #expect(play(0..<20, from: 0) > 0.1)
            playout.insert(arrivals[20].packet, at: .milliseconds(400))
            #expect(dv_playout_reset(playout.handle) == DV_OK)
            #expect(playout.pull(960, at: .milliseconds(400)).allSatisfy { $0 == 0 })
            #expect(playout.statistics.packets_received == 0)
            // Another talker, whose numbers go on from nothing
            #expect(play(0..<20, from: 30) > 0.1)
            #expect(playout.statistics.packets_received == 20 && playout.statistics.packets_discarded == 0)
        }

        @Test("its sides never wait for each other, and a second call of one is refused")
        func sides() throws {
            let playout = try CPlayout()
            let packet = try Arrival.inTime(packets: 1)[0].packet
            var status = DV_OK
            let kind = UInt8(playout.handle >> 56)
            for side in [DV_SIDE_SOUND, DV_SIDE_SECOND_SOUND, DV_SIDE_CONTROL] {
                #expect(unsafe dv_handle_enter(playout.handle, kind, UInt32(side), &status) != nil)
                playout.insert(packet, at: .zero)
                #expect((playout.status == DV_BUSY) == (side == DV_SIDE_SECOND_SOUND))
                #expect(playout.pull(480, at: .zero) == [Float](repeating: 0, count: 480))
                #expect((playout.status == DV_BUSY) == (side == DV_SIDE_SOUND))
                _ = playout.statistics
                #expect((playout.status == DV_BUSY) == (side == DV_SIDE_CONTROL))
                #expect((dv_playout_reset(playout.handle) == DV_BUSY) == (side == DV_SIDE_CONTROL))
                #expect(dv_playout_destroy(playout.handle) == DV_BUSY)
                dv_handle_leave(playout.handle, UInt32(side))
            }
        }

        @Test("arguments out of their range are named, and nothing is made or taken")
        func arguments() throws {
            func refusal(_ change: (inout dv_playout_config) -> Void) -> String {
                do {
                    _ = try CPlayout(change)
                    return "none"
                } catch { return (error as? Refusal).map { "\($0.status.rawValue) \($0.message)" } ?? "\(error)" }
            }
            #expect(refusal { $0.profile = 3 }.hasPrefix("-3 config.profile is 3"))
            #expect(refusal { $0.maximum_delay_ms = 501 }.hasPrefix("-3 config delays"))
            #expect(refusal { $0.minimum_delay_ms = 401 }.hasPrefix("-3 config delays"))
            #expect(refusal { ($0.minimum_delay_ms, $0.maximum_delay_ms) = (.max, .max) }.hasPrefix("-3 config delays"))
            #expect(refusal { $0.packets = 15 } == "-3 config.packets is 15; take 16 to 4096")
            #expect(refusal { $0.packets = .max }.hasPrefix("-3 config.packets"))
            #expect(refusal { $0.payload_type = 128 } == "-3 config.payload_type is 128; take 0 to 127")
            #expect(refusal { ($0.payload_type, $0.redundant_payload_type) = (96, 96) }.hasPrefix("-3 config.payload"))
            #expect(refusal { $0.size = 27 }.hasPrefix("-4 "))
            for profile in [DV_PLAYOUT_LOW_DELAY, DV_PLAYOUT_ROBUST] {
                #expect(refusal { $0.profile = UInt32(profile) } == "none")
            }
            let playout = try CPlayout()
            let packet = [UInt8](repeating: 0x80, count: Int(DV_PLAYOUT_PACKET_BYTES) + 1)
            func insert(_ count: Int, _ time: Int64) -> dv_status {
                unsafe dv_playout_insert(playout.handle, packet, count, time)
            }
            for (count, time) in [(0, 0), (-1, 0), (packet.count, 0), (.max, 0), (12, -1), (12, 1 << 60)] {
                #expect(insert(count, Int64(time)) == DV_INVALID_ARGUMENT, "\(count), \(time)")
            }
            #expect(insert(packet.count - 1, 0) == DV_OK)
            #expect(unsafe dv_playout_insert_opus(playout.handle, packet, 1_489, 0, 0, 0) == DV_INVALID_ARGUMENT)
            #expect(unsafe dv_playout_insert_opus(playout.handle, packet, 1_488, 0, 0, 0) == DV_OK)
            #expect(dv_playout_insert_opus(playout.handle, nil, 1, 0, 0, 0) == DV_INVALID_ARGUMENT)
            var sound: [Float] = [1, 1]
            #expect(unsafe dv_playout_pull(playout.handle, &sound, 1, -1) == DV_INVALID_ARGUMENT && sound == [0, 1])
            #expect(dv_playout_pull(playout.handle, nil, 1, 0) == DV_INVALID_ARGUMENT)
            #expect(unsafe dv_playout_pull(playout.handle, &sound, -1, 0) == DV_INVALID_ARGUMENT)
            #expect(dv_playout_get_statistics(playout.handle, nil) == DV_INVALID_ARGUMENT)
        }
    }

    @Suite("The jitter buffer allocates nothing")
    struct PlayoutAllocationTests {
        @Test(
            "where it is inserted into, pulled, reset and looked at",
            .enabled(if: areAllocationsCounted, "needs optimised code and the allocation counter"))
        func calls() throws {
            let playout = try CPlayout()
            let arrivals = try Arrival.overANetwork(seconds: 3, seed: 3)
            var block = [Float](repeating: 0, count: 480)
            var statistics = dv_playout_statistics.empty
            var (next, failures) = (0, 0)
            let before = RealtimeWatch.allocations
            for step in 0..<300 {
                let now = Int64(step) * 10_000_000
                while next < arrivals.count, arrivals[next].nanoseconds <= now {
                    let status = unsafe dv_playout_insert(
                        playout.handle, arrivals[next].packet, arrivals[next].packet.count, now)
                    failures += status == DV_OK ? 0 : 1
                    next += 1
                }
                if step == 150 { failures += dv_playout_reset(playout.handle) == DV_OK ? 0 : 1 }
                failures += unsafe dv_playout_pull(playout.handle, &block, 480, now) == DV_OK ? 0 : 1
                failures += unsafe dv_playout_get_statistics(playout.handle, &statistics) == DV_OK ? 0 : 1
            }
            let after = RealtimeWatch.allocations
            #expect(after == before && failures == 0 && statistics.concealed_frames > 0)
        }
    }
}

extension dv_playout_config: Sized {}
extension dv_playout_statistics: Sized {}

/// A jitter buffer as C has it, destroyed in the end.
private final class CPlayout {
    let handle: dv_playout
    private(set) var status = DV_OK

    init(_ change: (inout dv_playout_config) -> Void = { _ in }) throws {
        var config = dv_playout_config.empty
        change(&config)
        var (made, error) = (0 as dv_playout, dv_error())
        let status = unsafe dv_playout_create(&config, &made, &error)
        handle = made
        guard status == DV_OK else { throw Refusal(status: status, message: text(error)) }
    }

    deinit { _ = dv_playout_destroy(handle) }

    func insert(_ packet: [UInt8], at time: Duration) {
        status = unsafe dv_playout_insert(handle, packet, packet.count, Int64(time / .nanoseconds(1)))
    }

    /// What is in the packet, without its header.
    func insertOpus(_ arrival: Arrival) {
        let payload = Array(arrival.packet.dropFirst(12))
        status = unsafe dv_playout_insert_opus(
            handle, payload, payload.count, arrival.sequenceNumber, arrival.timestamp, arrival.nanoseconds)
    }

    func pull(_ frames: Int, at time: Duration) -> [Float] {
        var sound = [Float](repeating: .nan, count: frames)
        status = unsafe dv_playout_pull(handle, &sound, frames, Int64(time / .nanoseconds(1)))
        return sound
    }

    var statistics: dv_playout_statistics {
        var statistics = dv_playout_statistics.empty
        status = unsafe dv_playout_get_statistics(handle, &statistics)
        return statistics
    }
}

/// A packet of 20 ms of a tone, and when it comes.
private struct Arrival {
    var packet: [UInt8]
    var time: Duration
    var sequenceNumber: UInt16
    var timestamp: UInt32

    var nanoseconds: Int64 { Int64(time / .nanoseconds(1)) }

    /// Each as it was sent.
    static func inTime(packets: Int) throws -> [Arrival] {
        var encoder = try OpusEncoder()
        var room = [UInt8](repeating: 0, count: OpusEncoder.maximumPacketBytes)
        return try (0..<packets).map { index in
            let block = (0..<960).map { 0.3 * sinf(2 * .pi * 300 * Float(index * 960 + $0) / 48_000) }
            var payload = room.mutableSpan
            let bytes = try encoder.encode(block.span, into: &payload)
            let header = RTPHeader(
                payloadType: 111, sequenceNumber: UInt16(truncatingIfNeeded: 65_500 + index),
                timestamp: UInt32(index * 960), synchronizationSource: 0)
            var packet = [UInt8](repeating: 0, count: RTPHeader.byteCount + bytes)
            var span = packet.mutableSpan
            _ = try header.write(into: &span)
            packet.replaceSubrange(RTPHeader.byteCount..., with: room[..<bytes])
            return Arrival(
                packet: packet, time: .milliseconds(20 * index), sequenceNumber: header.sequenceNumber,
                timestamp: header.timestamp)
        }
    }

    /// 5 % lost, 3 % doubled, up to 40 ms late; in the order in which they come.
    static func overANetwork(seconds: Int, seed: UInt64) throws -> [Arrival] {
        var numbers = SeededNumbers(seed: seed)
        var arrivals: [Arrival] = []
        for var arrival in try inTime(packets: 50 * seconds) where !numbers.chance(0.05) {
            arrival.time += .microseconds(numbers.below(40_000))
            arrivals.append(arrival)
            if numbers.chance(0.03) { arrivals.append(arrival) }
        }
        return arrivals.sorted { $0.time < $1.time }
    }
}
