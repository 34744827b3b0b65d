import TestCases
import Testing

@testable import VoiceText

/// What the writer has written of a stream, kept beside the protocol.
private struct Written {
    var text = ""
    var isFinal = false
    var extras = ""

    mutating func change(_ change: TextChange, isFinal: Bool, extras: String) {
        if self.isFinal { text = "" }
        switch change {
        case .append(let piece): text += piece
        case .replace(let whole): text = whole
        }
        (self.isFinal, self.extras) = (isFinal, extras)
    }
}

@Suite("Texts whatever is lost, late or repeated, and whoever comes, goes or comes back")
struct TextInterleavingTests {
    /// A writer with two streams, and what is in them.
    private struct Story {
        static let streams = ["s", "t"]
        static let words = ["a", "be", " ", "wörd", "…", String(repeating: "long ", count: 300), ""]

        var room = TextRoom()
        var written: [String: Written] = [:]
        var random: SeededNumbers
        /// Whether reconnections happen.
        let hasBreaks: Bool

        init(seed: UInt64) {
            random = SeededNumbers(seed: seed)
            hasBreaks = seed % 2 == 0
        }

        mutating func write(_ stream: String, isFinal: Bool) throws {
            let word = Self.words[random.below(Self.words.count)]
            let change = random.chance(0.6) ? TextChange.append(word) : .replace("\(word)\(random.below(7))")
            let extras = random.chance(0.1) ? "{\(random.below(100))}" : ""
            do {
                try room.desk.change(stream, change, isFinal: isFinal, extras: extras)
                written[stream, default: Written()].change(change, isFinal: isFinal, extras: extras)
            } catch .textTooLong {
                // The next change begins the next round.
                room.desk.abandon(stream)
                written[stream]?.isFinal = true
            }
        }

        mutating func step() throws {
            switch random.below(12) {
            case 0...3: try write(Self.streams[random.below(2)], isFinal: random.chance(0.1))
            case 4: random.chance(0.7) ? room.join(random.below(4)) : room.leave(random.below(4))
            case 5...6:
                let loss = random.chance(0.3) ? 0.5 : 0
                var losses = SeededNumbers(seed: random.next())
                room.send { losses.chance(loss) }
            case 7...8: room.deliver(to: random.below(4), at: random.below(3), twice: random.chance(0.2))
            case 9: room.wait(.milliseconds(random.below(300)))
            case 10 where hasBreaks: random.chance(0.2) ? room.reconnectWriter() : room.reconnect(random.below(4))
            default:
                if random.chance(0.1) { room.desk.startAgain(now: room.now) }
                if random.chance(0.3) { room.desk.confirm(now: room.now) }
            }
        }

        /// Lets everything get through, and compares.
        mutating func check(_ seed: UInt64) throws {
            // Of what was lost without a word readers learn by what follows.
            room.join(4)
            for stream in Self.streams { try write(stream, isFinal: random.chance(0.5)) }
            room.settle()
            #expect(room.heard[4]?.count == Self.streams.count, "seed \(seed)")
            for (reader, heard) in room.heard where room.boards[reader] != nil {
                for (stream, written) in written {
                    let last = heard[stream]
                    #expect(last?.text == written.text, "reader \(reader), stream \(stream), seed \(seed)")
                    #expect(last?.isFinal == written.isFinal && last?.extras == written.extras, "seed \(seed)")
                }
            }
        }
    }

    @Test(
        "Given loss, reordering, repetition and reconnections, when all has got through, then every reader has what was written, and was told nothing twice",
        arguments: cases(1...40 as ClosedRange<UInt64>))
    func sameText(block: UInt64) throws {
        // 1,000 interleavings
        for seed in (block - 1) * 25..<block * 25 {
            var story = Story(seed: seed)
            for step in 0..<300 {
                try story.step()
                if step == 150 { try story.check(seed) }
            }
            try story.check(seed)
        }
    }
}
