import TestCases
import Testing
import VoiceRealtime

#if canImport(Glibc)
    import Glibc
#endif

/// Two threads at full speed; every value is checked. These are what tools/test runs under ThreadSanitizer.
@Suite("Rings between two threads", .timeLimit(.minutes(5)))
struct RingStressLiveTests {
    @Test("every frame arrives once, in order, with its time", arguments: [1_024, 8_192])
    func frames(capacity: Int) throws {
        // Given a writer that commits pieces of changing length, whose times are one frame number per microsecond
        let total = 2_000_000
        let ring = try FrameRing(minimumCapacity: capacity, sampleRate: 1_000_000)
        var consumer = ring.consumer
        let thread = try RealtimeThread(name: "writer", priority: 0, state: ring.producer) { producer, flag in
            var random = SeededNumbers(seed: 51)
            var next = 0
            while next < total, !flag.isRaised {
                var room = producer.acquire(min(Int.random(in: 1...480, using: &random), total - next))
                if room.isEmpty {
                    sched_yield()
                    continue
                }
                for i in room.indices { room[i] = Float((next + i) % 16_777_213) }
                let count = room.count
                producer.commit(count, time: MonotonicTime(nanoseconds: Int64(next) * 1_000))
                next += count
            }
        }
        // When they are read in pieces of other lengths
        var random = SeededNumbers(seed: 52)
        var expected = 0
        var wrongFrames = 0
        var wrongTimes = 0
        while expected < total {
            let frames = consumer.acquire(Int.random(in: 1...700, using: &random))
            if frames.isEmpty {
                sched_yield()
                continue
            }
            for i in frames.indices where frames[i] != Float((expected + i) % 16_777_213) { wrongFrames += 1 }
            let count = frames.count
            if consumer.nextTime().nanoseconds != Int64(expected) * 1_000 { wrongTimes += 1 }
            consumer.release(count)
            expected += count
        }
        thread.stop()
        // Then each is the right one, at the right time
        #expect(wrongFrames == 0)
        #expect(wrongTimes == 0)
        #expect(consumer.available == 0)
        #expect(consumer.droppedFrames == 0)
    }

    @Test("what a full frame ring leaves out is counted to the last frame")
    func droppedFrames() throws {
        let blocks = 20_000
        let ring = try FrameRing(minimumCapacity: 1_024)
        var consumer = ring.consumer
        let done = try WakeSignal()
        let thread = try RealtimeThread(name: "writer", priority: 0, state: ring.producer) { producer, _ in
            let block = [Float](repeating: 1, count: 100)
            for _ in 0..<blocks { _ = producer.write(block.span, time: MonotonicTime(nanoseconds: 0)) }
            done.signal()
        }
        var read = 0
        while !done.wait(timeout: .zero) {
            let count = consumer.acquire(64).count
            consumer.release(count)
            read += count
        }
        thread.stop()
        read += consumer.available
        #expect(read + consumer.droppedFrames == blocks * 100)
    }

    @Test("every packet arrives once, whole and in order")
    func packets() throws {
        let total = 200_000
        let ring = PacketRing(minimumSlots: 16, slotBytes: 64)
        var consumer = ring.consumer
        let thread = try RealtimeThread(name: "writer", priority: 0, state: ring.producer) { producer, flag in
            var next = 0
            while next < total, !flag.isRaised {
                var slot = producer.acquire()
                if slot.isEmpty {
                    sched_yield()
                    continue
                }
                let length = next % 65
                for i in 0..<length { slot[i] = UInt8(truncatingIfNeeded: next + i) }
                producer.commit(
                    length: length, tag: PacketTag(time: MonotonicTime(nanoseconds: Int64(next)), stream: UInt32(next)))
                next += 1
            }
        }
        var expected = 0
        var wrong = 0
        while expected < total {
            guard consumer.available > 0 else {
                sched_yield()
                continue
            }
            let tag = consumer.tag()
            let bytes = consumer.acquire()
            if tag.stream != UInt32(expected) || tag.time.nanoseconds != Int64(expected) { wrong += 1 }
            if bytes.count != expected % 65 { wrong += 1 }
            for i in bytes.indices where bytes[i] != UInt8(truncatingIfNeeded: expected + i) { wrong += 1 }
            consumer.release()
            expected += 1
        }
        thread.stop()
        #expect(wrong == 0)
    }

    @Test("every value arrives once and in order", arguments: [1, 2, 64])
    func values(capacity: Int) throws {
        let total: UInt64 = 200_000
        let ring = ValueRing<UInt64>(minimumCapacity: capacity)
        var consumer = ring.consumer
        let thread = try RealtimeThread(name: "writer", priority: 0, state: ring.producer) { producer, flag in
            var next: UInt64 = 0
            while next < total, !flag.isRaised {
                if producer.push(next) { next += 1 } else { sched_yield() }
            }
        }
        var expected: UInt64 = 0
        var wrong = 0
        while expected < total {
            guard let value = consumer.pop() else {
                sched_yield()
                continue
            }
            if value != expected { wrong += 1 }
            expected += 1
        }
        thread.stop()
        #expect(wrong == 0)
    }

    /// Forty bytes that must agree with each other, wider than any single store.
    struct Redundant: BitwiseCopyable, Sendable {
        var count: UInt64
        var inverse: UInt64
        var tripled: UInt64
        var squared: UInt64
        var sum: UInt64

        init(_ count: UInt64) {
            self.count = count
            inverse = ~count
            tripled = count &* 3
            squared = count &* count
            sum = count &+ inverse &+ tripled &+ squared
        }

        var isWhole: Bool {
            inverse == ~count && tripled == count &* 3 && squared == count &* count
                && sum == count &+ inverse &+ tripled &+ squared
        }
    }

    @Test("a reader of a triple buffer never sees a torn value, nor an older one than before, and at last the latest")
    func tripleBuffer() throws {
        let total: UInt64 = 500_000
        let buffer = TripleBuffer(Redundant(0))
        var reader = buffer.reader
        let done = try WakeSignal()
        let thread = try RealtimeThread(name: "writer", priority: 0, state: buffer.writer) { writer, _ in
            for count in 1...total { writer.publish(Redundant(count)) }
            done.signal()
        }
        var last: UInt64 = 0
        var wrong = 0
        while last < total {
            let value = reader.latest()
            if !value.isWhole || value.count < last { wrong += 1 }
            last = value.count
        }
        thread.stop()
        #expect(wrong == 0)
        #expect(done.wait(timeout: .zero))
    }
}
