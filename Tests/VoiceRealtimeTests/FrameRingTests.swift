import TestCases
import Testing
import VoiceRealtime

extension MutableSpan<Float> {
    /// Whether the frames are the numbers from `first` on.
    func isRamp(from first: Int) -> Bool {
        for i in indices where self[i] != Float(first + i) { return false }
        return true
    }
}

@Suite("FrameRing: frames from one thread to one other")
struct FrameRingTests {
    @Test(
        "the capacity is a power of two, at least what was asked for and at least a page",
        arguments: [1, 480, 1_023, 1_024, 1_025, 4_800, 48_000, 65_536])
    func capacity(minimum: Int) throws {
        let ring = try FrameRing(minimumCapacity: minimum)
        let capacity = ring.producer.capacity
        #expect(capacity >= minimum)
        #expect(capacity >= 1_024)
        #expect(capacity & (capacity - 1) == 0)
        #expect(capacity / 2 < max(minimum, 1_024))
        #expect(ring.consumer.capacity == capacity)
    }

    @Test("a ring too large for the machine is refused with the system's reason")
    func refusal() {
        #expect(throws: RingError.self) { _ = try FrameRing(minimumCapacity: 1 << 52) }
    }

    @Test("frames come out as they went in, across many turns of the ring", arguments: [UInt64(1), 2, 3])
    func order(seed: UInt64) throws {
        // Given a ring and pieces of random length, among them empty ones
        var random = SeededNumbers(seed: seed)
        var ring = try FrameRing(minimumCapacity: 1_024)
        var next = 0
        var expected = 0
        // When they are pushed and popped for more than a hundred turns
        while expected < 120 * 1_024 {
            let pushed = Int.random(in: 0...700, using: &random)
            var room = ring.producer.acquire(pushed)
            for i in room.indices { room[i] = Float(next + i) }
            let count = room.count
            ring.producer.commit(count, time: MonotonicTime(nanoseconds: 0))
            next += count
            // Then every frame is the one after the last
            let popped = Int.random(in: 0...700, using: &random)
            let frames = ring.consumer.acquire(popped)
            let isInOrder = frames.isRamp(from: expected)
            #expect(isInOrder, "seed \(seed), frame \(expected)")
            let taken = frames.count
            #expect(taken == min(popped, next - expected), "seed \(seed)")
            ring.consumer.release(taken)
            expected += taken
        }
        #expect(ring.consumer.droppedFrames == 0)
    }

    @Test("an acquired span is never split at the end of the ring")
    func neverSplit() throws {
        var ring = try FrameRing(minimumCapacity: 1_024)
        let time = MonotonicTime(nanoseconds: 0)
        // Given ends that stand one frame before the end of the memory
        let first = ring.producer.acquire(1_023).count
        ring.producer.commit(first, time: time)
        let read = ring.consumer.acquire(1_023).count
        ring.consumer.release(read)
        // When a whole ring is written from there
        var room = ring.producer.acquire(1_024)
        expectEqual(room.count, 1_024)
        for i in room.indices { room[i] = Float(i) }
        ring.producer.commit(1_024, time: time)
        // Then it is read in one piece too
        let frames = ring.consumer.acquire(1_024)
        expectEqual(frames.count, 1_024)
        expectEqual(frames.isRamp(from: 0), true)
    }

    @Test("a full ring gives less room; what is left out is the newest, and is counted")
    func overflow() throws {
        var ring = try FrameRing(minimumCapacity: 1_024)
        let block = (0..<1_000).map { Float($0) }
        expectEqual(ring.producer.write(block.span, time: MonotonicTime(nanoseconds: 0)), 1_000)
        // Given 24 frames of room, when 1,000 more are written
        expectEqual(ring.producer.write(block.span, time: MonotonicTime(nanoseconds: 0)), 24)
        // Then 976 are counted, on both ends
        #expect(ring.producer.droppedFrames == 976)
        #expect(ring.consumer.droppedFrames == 976)
        #expect(ring.producer.fill == 1_024)
        #expect(ring.consumer.available == 1_024)
        let none = ring.producer.acquire(1).count
        #expect(none == 0)
        // And the oldest are all there
        var out = [Float](repeating: -1, count: 2_000)
        var target = out.mutableSpan
        let count = ring.consumer.read(into: &target)
        #expect(count == 1_024)
        #expect(out[..<1_000].elementsEqual(block))
        #expect(out[1_000..<1_024].elementsEqual(block[..<24]))
        #expect(out[1_024] == -1)
    }

    @Test("what is not committed or not released stays")
    func partial() throws {
        var ring = try FrameRing(minimumCapacity: 1_024)
        var room = ring.producer.acquire(100)
        for i in room.indices { room[i] = Float(i) }
        ring.producer.commit(60, time: MonotonicTime(nanoseconds: 0))
        #expect(ring.consumer.available == 60)
        let seen = ring.consumer.acquire(1_000).count
        #expect(seen == 60)
        ring.consumer.release(20)
        let rest = ring.consumer.acquire(1_000)
        expectEqual(rest.count, 40)
        expectEqual(rest.isRamp(from: 20), true)
    }

    @Test("negative and zero lengths are nothing", arguments: [0, -1, Int.min])
    func nothing(frames: Int) throws {
        var ring = try FrameRing(minimumCapacity: 1_024)
        let room = ring.producer.acquire(frames).count
        ring.producer.commit(0, time: MonotonicTime(nanoseconds: 5))
        let there = ring.consumer.acquire(frames).count
        ring.consumer.release(0)
        #expect(room == 0)
        #expect(there == 0)
        #expect(ring.consumer.available == 0)
    }

    @Test("committing or releasing more than there is stops the program instead of corrupting the sound")
    func misuse() async {
        await #expect(processExitsWith: .failure) {
            var ring = try FrameRing(minimumCapacity: 1_024)
            _ = ring.producer.acquire(10).count
            ring.producer.commit(1_025, time: MonotonicTime(nanoseconds: 0))
        }
        await #expect(processExitsWith: .failure) {
            var ring = try FrameRing(minimumCapacity: 1_024)
            ring.consumer.release(1)
        }
    }
}
