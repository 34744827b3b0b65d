import TestCases
import Testing
import VoicePeers

@testable import VoiceRooms

/// The structures that keep the work per input small.
struct BoundedQueueTests {
    @Test(arguments: cases(1...20 as ClosedRange<UInt64>))
    func deadlinesComeInTheirOrder(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        var queue = DeadlineQueue<Int>()
        var all: [Int: Duration] = [:]
        var now: Duration = .zero
        for _ in 0..<2000 {
            let key = Int.random(in: 0..<50, using: &random)
            if random.chance(0.2) {
                queue.set(key, to: nil)
                all[key] = nil
            } else {
                let deadline = now + .milliseconds(Int64.random(in: 0...1000, using: &random))
                queue.set(key, to: deadline)
                all[key] = deadline
            }
            #expect(queue.earliest == all.values.min(), "seed \(seed)")
            guard random.chance(0.3) else { continue }
            now += .milliseconds(Int64.random(in: 0...200, using: &random))
            var last: Duration = .zero
            while let due = queue.takeDue(now: now) {
                let deadline = all.removeValue(forKey: due) ?? .zero
                #expect(deadline >= last && deadline <= now, "seed \(seed)")
                last = deadline
            }
            #expect(all.values.allSatisfy { $0 > now }, "seed \(seed)")
        }
    }

    @Test func aMeterLetsABurstThroughAndThenItsRate() {
        let limit = RateLimit(burst: 10, interval: .milliseconds(100))
        var meter = RateMeter()
        var now: Duration = .seconds(5)
        let burst = (0..<100).count { _ in meter.take(limit, now: now) }
        #expect(burst == 10)
        var passed = 0
        for _ in 0..<1000 {
            now += .milliseconds(1)
            if meter.take(limit, now: now) { passed += 1 }
        }
        #expect(passed == 10)
        // And what costs more delays the next
        now += .seconds(5)
        meter.charge(20, limit, now: now)
        #expect(!meter.isOpen(limit, now: now + .milliseconds(1099)))
        #expect(meter.isOpen(limit, now: now + .milliseconds(1100)))
    }

    @Test func numbersBeginAnewAfterTheLast() {
        var directory = RoomDirectory(key: CookieKey(high: 1, low: 2))
        directory.lastParticipant = .max - 1
        directory.lastStream = .max - 1
        let participants = (0..<2).map { _ in directory.makeParticipantID().rawValue }
        #expect(participants == [.max, 1])
        // And one that somebody has is not given out again
        directory.streamOwners[StreamID(rawValue: 1)] = ParticipantID(rawValue: 1)
        let streams = (0..<2).map { _ in directory.makeStreamID().rawValue }
        #expect(streams == [.max, 2])
    }
}
