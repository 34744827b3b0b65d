import TestCases
import Testing
import VoiceRealtime

@testable import VoiceEngine

@Suite("What is said while a room is being joined")
struct JoinPreRollTests {
    private enum Sound {
        case silence
        case word
        /// Loud, and no speech by the detector.
        case noise
        /// Louder, and not yet taken for speech.
        case onset
    }

    /// A pre-roll of 10 ms blocks, and what came out of it.
    private struct Bench: ~Copyable {
        var preRoll = JoinPreRoll(blockFrames: 480)
        /// The numbers of the blocks that were sent, and after how many had come.
        var sent: [(number: Int, after: Int)] = []
        /// Before which of them something was cut.
        var cuts: [Int] = []
        private(set) var inserted = 0

        /// Blocks that hold their number in each frame.
        mutating func pass(_ blocks: Int, _ sound: Sound) {
            for _ in 0..<blocks {
                let block = [Float](repeating: Float(inserted), count: 480)
                let moment = BlockMoment(
                    adcTime: MonotonicTime(nanoseconds: Int64(inserted) * 10_000_000), delayFrames: 0,
                    level: sound == .silence ? -70 : sound == .onset ? -20 : -30, hasVoice: sound == .word,
                    isVoiceless: sound != .word, isAudible: true)
                inserted += 1
                preRoll.observe(moment)
                guard !preRoll.isPassing else {
                    send(inserted - 1)
                    continue
                }
                preRoll.insert(block.span, moment)
                var output = [Float](repeating: 0, count: 480)
                while let moment = take(&output) {
                    #expect(output.allSatisfy { Int64($0) * 10_000_000 == moment.adcTime.nanoseconds })
                    send(Int(output[0]))
                }
            }
        }

        private mutating func take(_ output: inout [Float]) -> BlockMoment? {
            var span = output.mutableSpan
            return preRoll.next(into: &span)
        }

        private mutating func send(_ number: Int) {
            if preRoll.takeCut() { cuts.append(number) }
            sent.append((number, inserted))
        }

        var numbers: [Int] { sent.map(\.number) }
    }

    @Test("Given nobody who spoke, when the room is there, then nothing of it is sent and nothing is delayed")
    func silence() {
        var bench = Bench()
        bench.preRoll.keep()
        bench.pass(60, .silence)
        #expect(bench.sent.isEmpty)
        bench.preRoll.drain()
        bench.pass(10, .word)
        #expect(bench.numbers == Array(60..<70))
        #expect(bench.sent.allSatisfy { $0.after == $0.number + 1 })
        #expect(bench.cuts.isEmpty, "the stream begins there")
    }

    @Test("Given a word, when the room is there, then it is sent from 100 ms before it, each block when another comes")
    func word() {
        var bench = Bench()
        bench.preRoll.keep()
        bench.pass(20, .silence)
        bench.pass(20, .word)
        bench.preRoll.drain()
        bench.pass(24, .word)
        #expect(bench.numbers == Array(10..<34))
        // And where nobody pauses, one in 25 more
        bench.pass(24, .word)
        #expect(bench.numbers == Array(10..<59))
    }

    @Test("Given a delay, when the talker pauses, then the pause alone is cut, and nothing is delayed any more")
    func pause() {
        var bench = Bench()
        bench.preRoll.keep()
        bench.pass(40, .word)
        bench.preRoll.drain()
        bench.pass(20, .word)
        bench.pass(60, .silence)
        bench.pass(20, .word)
        // Nothing is missing but silence, of which 100 ms are left behind the word
        let missing = Set(0..<bench.inserted).subtracting(bench.numbers)
        #expect(missing.allSatisfy { (70..<120).contains($0) })
        #expect(missing.count > 25)
        #expect(bench.numbers == bench.numbers.sorted())
        #expect(bench.cuts.count == 1)
        #expect(bench.sent.last.map { $0.after - $0.number } == 1)
        let isPassing = bench.preRoll.isPassing
        #expect(isPassing)
    }

    @Test("Given a word on the way, when the next follows a pause, then 100 ms before it are sent too")
    func nextWord() {
        var bench = Bench()
        bench.preRoll.keep()
        bench.pass(10, .word)
        bench.pass(50, .silence)
        bench.pass(30, .word)
        bench.preRoll.drain()
        bench.pass(40, .word)
        #expect(bench.numbers.starts(with: Array(0..<20) + Array(50..<60)))
        #expect(bench.cuts == [50])
    }

    @Test("Given noise that is no speech, when the room is there, then nothing of it is sent and nothing is delayed")
    func noise() {
        var bench = Bench()
        bench.pass(60, .noise)
        bench.preRoll.keep()
        bench.pass(20, .noise)
        bench.preRoll.drain()
        bench.pass(10, .noise)
        #expect(bench.numbers == Array(0..<60) + Array(80..<90))
    }

    @Test("Given a word in noise of which the detector is not sure yet, when the room is there, then it is whole")
    func onset() {
        var bench = Bench()
        bench.pass(60, .noise)
        bench.preRoll.keep()
        bench.pass(20, .noise)
        bench.pass(6, .onset)
        bench.preRoll.drain()
        bench.pass(2, .onset)
        bench.pass(20, .word)
        #expect(bench.numbers[60...].first == 70, "100 ms before it")
        #expect(bench.cuts.isEmpty)
    }

    @Test("Given a join of more than a second, when the room is there, then the last second is sent")
    func long() {
        var bench = Bench()
        bench.preRoll.keep()
        bench.pass(250, .word)
        bench.preRoll.drain()
        bench.pass(1, .word)
        #expect(bench.numbers == [150])
    }

    @Test("Given a word, when it is forgotten or the join fails, then it is never sent")
    func forgotten() {
        var bench = Bench()
        bench.preRoll.keep()
        bench.pass(30, .word)
        bench.preRoll.forget()
        bench.pass(2, .word)
        bench.preRoll.drain()
        bench.pass(1, .word)
        #expect(bench.numbers.first == 30)
        bench.preRoll.keep()
        bench.pass(30, .word)
        let before = bench.sent.count
        bench.preRoll.stop()
        bench.pass(1, .word)
        #expect(bench.sent[before...].map(\.number) == [bench.inserted - 1])
    }

    @Test(
        "Given words and pauses in any order, when rooms are joined and left at any time, then blocks come out in order, at most two for one, none delayed beyond a second, and no word of a stay is lost",
        arguments: cases(1...20))
    func anyOrder(seed: Int) {
        var bench = Bench()
        var state = UInt64(seed)
        var words: Set<Int> = []
        var isIn = true
        for _ in 0..<400 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            switch (state >> 33) % 40 {
            case 0 where isIn:
                // What waits is given up with the room
                bench.preRoll.keep()
                words.subtract(bench.inserted - 110..<bench.inserted)
                isIn = false
            case 1...3 where !isIn:
                bench.preRoll.drain()
                isIn = true
            default: break
            }
            let blocks = 1 + Int((state >> 40) % 8)
            let isWord = (state >> 50) % 2 == 0
            for _ in 0..<blocks {
                let before = bench.sent.count
                if isWord && isIn { words.insert(bench.inserted) }
                bench.pass(1, isWord ? .word : .silence)
                #expect(bench.sent.count - before <= 2, "seed \(seed)")
            }
        }
        bench.preRoll.drain()
        bench.pass(3_000, .silence)
        #expect(bench.numbers == Set(bench.numbers).sorted(), "seed \(seed)")
        #expect(words.isSubset(of: bench.numbers), "seed \(seed)")
        #expect(bench.sent.allSatisfy { $0.after - $0.number <= 101 }, "seed \(seed)")
    }
}
