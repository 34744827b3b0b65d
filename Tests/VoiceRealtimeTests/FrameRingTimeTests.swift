import TestCases
import Testing
import VoiceRealtime

@Suite("FrameRing: the time of every frame")
struct FrameRingTimeTests {
    private func push(_ frames: Int, at nanoseconds: Int64, into ring: inout FrameRing) {
        let count = ring.producer.acquire(frames).count
        ring.producer.commit(count, time: MonotonicTime(nanoseconds: nanoseconds))
    }

    private func pop(_ frames: Int, from ring: inout FrameRing) {
        let count = ring.consumer.acquire(frames).count
        ring.consumer.release(count)
    }

    @Test("a frame's time is its commit's, advanced at the nominal rate, however it is cut")
    func acrossCommits() throws {
        // Given two commits that do not follow each other in time
        var ring = try FrameRing(minimumCapacity: 4_096, sampleRate: 48_000)
        push(480, at: 1_000_000_000, into: &ring)
        push(480, at: 1_250_000_000, into: &ring)
        // Then the first frame has the first commit's time
        expectEqual(ring.consumer.nextTime().nanoseconds, 1_000_000_000)
        pop(48, from: &ring)
        expectEqual(ring.consumer.nextTime().nanoseconds, 1_001_000_000)
        // And the last one before the border is still reckoned from it
        pop(431, from: &ring)
        expectEqual(ring.consumer.nextTime().nanoseconds, 1_009_979_166)
        // And the border belongs to the second
        pop(1, from: &ring)
        expectEqual(ring.consumer.nextTime().nanoseconds, 1_250_000_000)
        pop(240, from: &ring)
        expectEqual(ring.consumer.nextTime().nanoseconds, 1_255_000_000)
    }

    @Test("one read across many commits lands in the right one")
    func readAcross() throws {
        var ring = try FrameRing(minimumCapacity: 4_096, sampleRate: 48_000)
        for i in 0..<20 { push(100, at: Int64(i) * 1_000_000_000, into: &ring) }
        pop(1_048, from: &ring)
        expectEqual(ring.consumer.nextTime().nanoseconds, 10_001_000_000)
    }

    @Test("the rate is the ring's")
    func rate() throws {
        var ring = try FrameRing(minimumCapacity: 4_096, sampleRate: 16_000)
        push(320, at: 0, into: &ring)
        pop(16, from: &ring)
        expectEqual(ring.consumer.nextTime().nanoseconds, 1_000_000)
    }

    @Test("with more than 512 commits unread, later ones are reckoned from the last mark, and exact again afterwards")
    func marksRunOut() throws {
        // Given 600 commits of one frame, a second apart, none of them read
        var ring = try FrameRing(minimumCapacity: 4_096, sampleRate: 48_000)
        for i in 0..<600 { push(1, at: Int64(i) * 1_000_000_000, into: &ring) }
        // Then the first 512 have their own time
        for i in 0..<512 {
            expectEqual(ring.consumer.nextTime().nanoseconds, Int64(i) * 1_000_000_000)
            pop(1, from: &ring)
        }
        // And the next are reckoned from the 512th
        expectEqual(ring.consumer.nextTime().nanoseconds, 511_000_000_000 + 20_833)
        // And no frame is lost over it
        #expect(ring.consumer.available == 88)
        #expect(ring.consumer.droppedFrames == 0)
        // And a commit made once marks are free again is exact
        push(1, at: 9_000_000_000_000, into: &ring)
        pop(88, from: &ring)
        expectEqual(ring.consumer.nextTime().nanoseconds, 9_000_000_000_000)
    }

    @Test("times agree with a plain list over random commits and reads", arguments: [UInt64(11), 12, 13, 14])
    func property(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        var ring = try FrameRing(minimumCapacity: 2_048, sampleRate: 48_000)
        // The time of each frame in the ring, as (commit's time, place within it)
        var list: [(time: Int64, place: Int)] = []
        var now: Int64 = 0
        for _ in 0..<20_000 {
            if Bool.random(using: &random) {
                let count = ring.producer.acquire(Int.random(in: 0...512, using: &random)).count
                now += Int64.random(in: 0...30_000_000, using: &random)
                ring.producer.commit(count, time: MonotonicTime(nanoseconds: now))
                for place in 0..<count { list.append((now, place)) }
            } else {
                if let first = list.first {
                    let expected = MonotonicTime(nanoseconds: first.time).advanced(
                        byFrames: first.place, sampleRate: 48_000)
                    expectEqual(ring.consumer.nextTime(), expected, "seed \(seed)")
                }
                let count = ring.consumer.acquire(Int.random(in: 0...512, using: &random)).count
                ring.consumer.release(count)
                list.removeFirst(count)
            }
        }
    }
}
