import TestCases
import Testing
import VoiceWire

@testable import VoicePlayout

/// What a packet costs, counted in entries and nodes visited: packets come from people who may wish you ill.
@Suite("Work per packet")
struct WorkPerPacketTests {
    /// Visits that a packet costs at most on average: to note and to settle each of the most packets that are kept of a
    /// gap, some 20 each.
    private static let mostVisits = 20 * ArrivalHistory.baselinePackets
    /// Visits that finding the target anew costs at most: some 10 for each packet of the last second.
    private static let mostUpdateVisits = 10 * ArrivalHistory.baselinePackets
    /// Visits that a search for outdated evidence costs at most: some 12 for each packet that is remembered.
    private static let mostLookVisits = 12 * 1024

    /// A sender's idea of how to go on: by how many sequence numbers, and how long its packets are, frames.
    enum Course: String, CaseIterable {
        case steady, widestGap, beyondTheGap, longSteps, anyStep, changingLengths

        func next(_ index: Int, _ random: inout SeededNumbers) -> (step: Int64, frames: Int) {
            switch self {
            case .steady: (1, 120)
            case .widestGap: (Int64(ArrivalHistory.baselinePackets), 120)
            case .beyondTheGap: (Int64(ArrivalHistory.baselinePackets) * 2 - 1, 120)
            case .longSteps: (3000, 120)
            case .anyStep: (.random(in: -1000...3000, using: &random), [120, 960].randomElement(using: &random) ?? 960)
            // A second of short packets waits to be settled, then one is so long that all are at once.
            case .changingLengths: (1, index % 400 == 0 ? 5760 : 120)
            }
        }
    }

    @Test("is bounded whatever the sequence numbers and lengths", arguments: cases(Course.allCases))
    func bounded(course: Course) {
        // Given a sender of 4000 packets a second
        var random = SeededNumbers(seed: 1)
        var target = AudibleCostTarget(.conversation)
        var (sequence, position, updates, mostInUpdate): (Int64, Int64, Int, Int) = (0, 0, 0, 0)
        let packets = 20_000
        for index in 0..<packets {
            let (step, frames) = course.next(index, &random)
            sequence += step
            position += step * Int64(frames)
            target.record(sequence: sequence, position: position, arrival: Int64(index) * 12, frames: frames, reach: 0)
            // When the target is found anew at every pull of 5 ms
            guard index % 20 == 19 else { continue }
            let before = target.visits
            target.update(position: Int64(index) * 12)
            mostInUpdate = max(mostInUpdate, target.visits - before)
            updates += target.visits - before
        }
        // Then neither a packet nor a pull costs more than it may
        let perPacket = (target.visits - updates) / packets
        #expect(perPacket <= Self.mostVisits, "\(perPacket) visits a packet")
        #expect(mostInUpdate <= Self.mostUpdateVisits, "\(mostInUpdate) visits in an update")
    }

    @Test("is bounded where it is looked for evidence that is outdated")
    func outdated() {
        // Given two slow stretches among calm ones: a target far above what came of late, and no storm that would
        // explain it
        var target = AudibleCostTarget(.conversation)
        var most = 0
        for index in 0..<1400 as Range<Int64> {
            let late: Int64 = 250..<290 ~= index || 450..<490 ~= index ? 9600 : 0
            target.record(sequence: index, position: index * 960, arrival: index * 960 + late, frames: 960, reach: 0)
            let before = target.lookVisits
            target.update(position: index * 960)
            most = max(most, target.lookVisits - before)
        }
        // Then each packet that is remembered is visited a few times, not once for each time and level that is tried
        #expect(most > 1024 && most <= Self.mostLookVisits, "\(most) visits in a look")
    }

    @Test("does not grow with a clock that jumps")
    func shift() {
        var target = AudibleCostTarget(.conversation)
        for index in 0..<1000 as Range<Int64> {
            target.record(sequence: index, position: index * 960, arrival: index * 960 + 5, frames: 960, reach: 0)
        }
        target.update(position: 960_000)
        let (visits, baseline) = (target.visits, target.baseline)
        target.shift(by: 4800)
        #expect(target.visits == visits)
        target.update(position: 960_000)
        #expect(target.baseline == baseline + 4800)
    }

    @Test("Packets that are passed over for being late go through the decoder only where that matters")
    func catchUp() {
        // Given a freeze in which every other packet was lost, and then all that is left at once
        var trace = Trace(seconds: 6, network: .clean, seed: 1)
        trace.packets = trace.packets.enumerated().filter { $0.offset < 100 || $0.offset % 2 == 0 }.map(\.element)
        for index in trace.packets.indices where trace.packets[index].milliseconds > 2000 {
            trace.packets[index].milliseconds = max(trace.packets[index].milliseconds, 5000)
        }
        var listening = Listening()
        listening.play(trace, until: 4995, keepsSound: false)
        // When the sound goes on
        var most = 0
        for step in 0..<20 {
            let (packets, frames) = (listening.decoder.decodedPackets, listening.decoder.concealedFrames)
            listening.play(trace, until: 5005 + Double(step) * 10, keepsSound: false)
            let concealed = (listening.decoder.concealedFrames - frames) / 960
            most = max(most, listening.decoder.decodedPackets - packets + concealed)
        }
        // Then no pull makes the decoder work for more than what it needs for its state, and what is played
        #expect(most <= 2 * Int(PlayoutPlanner.caughtUpPackets) + 4, "\(most) packets' time in one pull")
        listening.expectAccounts()
    }
}

struct RangeMinimumTests {
    @Test("Every run of slots has the smallest of its values", arguments: 1...5 as ClosedRange<UInt64>)
    func anyRun(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        var tree = RangeMinimum(capacity: 64)
        var values = [Int64](repeating: RangeMinimum.nothing, count: 64)
        for _ in 0..<3000 {
            let slot = Int.random(in: 0..<64, using: &random)
            values[slot] = random.next() % 3 == 0 ? RangeMinimum.nothing : .random(in: -50...50, using: &random)
            tree.set(slot, values[slot])
            let (first, last) = (Int.random(in: 0..<64, using: &random), Int.random(in: 0..<64, using: &random))
            let run = first <= last ? Array(values[first...last]) : Array(values[first...]) + values[...last]
            #expect(tree.minimum(from: first, through: last) == run.min(), "\(first) to \(last), seed \(seed)")
        }
    }
}

struct PacketStoreTests {
    @Test("The first packet from anywhere on is found across any gap", arguments: [16, 64, 100, 256])
    func first(capacity: Int) {
        var random = SeededNumbers(seed: UInt64(capacity))
        var store = PacketStore(capacity: capacity)
        var waiting: Set<Int64> = []
        var newest: Int64 = -300
        let payload: [UInt8] = [72]
        for _ in 0..<4000 {
            if random.next() % 3 == 0, let one = waiting.randomElement(using: &random) {
                waiting.remove(one)
                store.remove(one)
            } else {
                newest += [1, 1, 2, Int64(capacity) / 2].randomElement(using: &random) ?? 1
                for old in waiting where old <= newest - Int64(capacity) {
                    waiting.remove(old)
                    store.remove(old)
                }
                store.keep(
                    StoredPacket(
                        sequence: newest, position: 0, timestamp: 0, arrival: 0, framing: .none, startsStream: false,
                        isCopy: false, generation: 0, byteCount: 1), payload: payload.span)
                waiting.insert(newest)
            }
            let from = newest - Int64.random(in: -2...Int64(capacity + 5), using: &random)
            let found = store.first(from: from)?.sequence
            #expect(found == waiting.filter { $0 >= from }.min(), "from \(from) of \(capacity)")
            #expect(store.count == waiting.count)
        }
    }
}
