import Testing
import VoiceSimulation

@testable import VoiceEngine
@testable import VoiceTurns

@Suite("What is kept of a talker in the room")
struct StreamHoldTests {
    private static let block = 480

    /// A hold, a ledger and a loudspeaker, in blocks of 10 ms. A frame's sample tells which frame of the utterance it
    /// is.
    private final class Talker {
        private var hold = StreamHold()
        private var ledger = UtteranceLedger()
        private(set) var sent = 0
        private(set) var played: [Float] = []

        init() {
            hold.restart(7)
            ledger.place(1, position: 0, timestamp: 0, frames: 960_000)
        }

        static func sample(_ frame: Int) -> Float { 0.25 + Float(frame % 40_000) / 80_000 }

        var lag: Int { hold.lag }
        var overflows: Int { hold.overflows }
        var delivery: StreamHold.Delivery { hold.delivery }

        func hear(blocks: Int, sample: (Int) -> Float = Talker.sample) {
            for _ in 0..<blocks {
                var sound = (0..<block).map { sample(sent + $0) }
                hold.append(sound.span)
                hold.note(
                    timestamp: UInt32(sent), first: 0, frames: block, isMadeUp: false, of: block)
                sent += block
                var span = sound.mutableSpan
                let at = played.count
                hold.take(
                    into: &span, at: MixMoment(ringFrame: Double(at), scale: 1, dacTime: nil), ledger: &ledger)
                played += sound
                ledger.rendered(firstFrame: at, frames: block, dacNanoseconds: Int64(at) * 1_000_000_000 / 48_000)
            }
        }

        func holdNow() { hold.hold() }
        func release(rewind: Int) { hold.release(rewind: rewind) }
        func giveUp() { hold.giveUp() }
        func generationChanged(drops: Bool) { hold.generationChanged(drops: drops) }

        /// Frames of the utterance that the ledger has at the end of what was played.
        var heard: Int {
            let now = Int64(played.count) * 1_000_000_000 / 48_000
            return (ledger.progress(at: now)?.frames ?? 0) + UtteranceLedger.codecDelayFrames
        }

        func isSilent(_ range: Range<Int>) -> Bool { played[range].allSatisfy { $0 == 0 } }
    }

    @Test("Given a talker who is not spoken into, when it is watched, then every frame comes as it is, at once")
    func untouched() {
        let talker = Talker()
        talker.hear(blocks: 100)
        #expect(talker.played == (0..<48_000).map(Talker.sample))
        #expect(talker.lag == 0 && talker.heard == 48_000)
    }

    @Test(
        "Given a talker who is held, when it goes on, then it does so before the held sample, no sample is lost, and what is repeated was heard once",
        arguments: [0, 4_800, 12_000])
    func resumed(rewind: Int) {
        let talker = Talker()
        talker.hear(blocks: 50)
        talker.holdNow()
        talker.hear(blocks: 60)
        // Silent but for a fade of 5 ms, and nothing of it counts
        #expect(talker.isSilent(24_000 + 240..<24_000 + 28_800))
        #expect(talker.lag == 28_800 && talker.heard == 24_000)
        talker.release(rewind: rewind)
        talker.hear(blocks: 100)
        // From the fade-in on it is what was said
        let begin = 24_000 + 28_800
        let expected = (0..<48_000).map { Talker.sample(24_000 - rewind + $0) }
        #expect(Array(talker.played[begin + 240..<begin + 48_000]) == Array(expected[240...]))
        #expect(talker.lag == 28_800 + rewind)
        #expect(talker.heard == 24_000 - rewind + 48_000)
    }

    @Test("Given what was repeated, while it is heard again, then what was heard does not fall back")
    func repeated() {
        let talker = Talker()
        talker.hear(blocks: 50)
        talker.holdNow()
        talker.hear(blocks: 10)
        talker.release(rewind: 9_600)
        var last = talker.heard
        for _ in 0..<40 {
            talker.hear(blocks: 1)
            #expect(talker.heard >= last)
            last = talker.heard
        }
        #expect(last == 24_000 - 9_600 + 40 * 480)
    }

    @Test(
        "Given a talker who is late, when it pauses, then it catches up in the pauses, and words come as they are")
    func catchesUp() {
        let talker = Talker()
        // Half a second of words, half a second of pause
        func sample(_ frame: Int) -> Float { frame / 24_000 % 2 == 0 ? Talker.sample(frame) : 0 }
        talker.hear(blocks: 50, sample: sample)
        talker.holdNow()
        talker.hear(blocks: 50, sample: sample)
        talker.release(rewind: 0)
        talker.hear(blocks: 600, sample: sample)
        #expect(talker.lag == 0)
        // The last is heard as it comes, and no word is missing
        #expect(talker.played.count { $0 != 0 } >= talker.sent / 2)
        #expect(talker.heard == talker.sent)
    }

    @Test(
        "Given a hold that does not end, when the ring is full, then the talker goes on, late and whole, and is held again only when there is room"
    )
    func bounded() {
        let talker = Talker()
        talker.hear(blocks: 10)
        talker.holdNow()
        talker.hear(blocks: 600)
        #expect(talker.overflows == 1 && talker.lag <= StreamHold.longestLag)
        talker.holdNow()
        #expect(talker.delivery == .playing)
        let begin = talker.played.count
        talker.hear(blocks: 10)
        let lag = talker.lag
        let expected = (0..<4_800).map { Talker.sample(begin - lag + $0) }
        #expect(Array(talker.played[begin...]) == expected)
    }

    @Test(
        "Given a talker who is given up, when its next generation is in force, then nothing of what was kept is heard, and what comes then is; and after 2 s without one too"
    )
    func givenUp() {
        let talker = Talker()
        talker.hear(blocks: 50)
        talker.holdNow()
        talker.hear(blocks: 20)
        talker.giveUp()
        talker.hear(blocks: 20)
        #expect(talker.isSilent(24_000 + 240..<talker.played.count) && talker.lag == 0)
        talker.generationChanged(drops: true)
        let begin = talker.played.count
        talker.hear(blocks: 10)
        // Behind what the jitter buffer fades out, of what nobody had heard
        #expect(talker.isSilent(begin..<begin + 480))
        #expect(Array(talker.played[(begin + 720)...]) == (begin + 720..<begin + 4_800).map(Talker.sample))
        talker.giveUp()
        talker.hear(blocks: 210)
        #expect(talker.played.last != 0)
    }

    @Test(
        "Given random orders, when they come in any order, then what is heard is sound of the talker, in order but for rewinds, and bounded"
    )
    func random() {
        var generator = SeededGenerator(seed: 5)
        let talker = Talker()
        for _ in 0..<400 {
            switch generator.next() % 8 as UInt64 {
            case 0: talker.holdNow()
            case 1: talker.release(rewind: Int(generator.next() % 20_000 as UInt64))
            case 2: talker.giveUp()
            case 3: talker.generationChanged(drops: generator.next() % 2 as UInt64 == 0)
            default: talker.hear(blocks: Int(generator.next() % 40 as UInt64))
            }
            #expect(talker.lag >= 0 && talker.lag <= StreamHold.longestLag + StreamHold.historyFrames)
            #expect(talker.heard <= max(talker.sent, UtteranceLedger.codecDelayFrames))
        }
        // Each frame is one of the talker's, or between two of them, or of one and silence.
        #expect(talker.played.allSatisfy { (0...0.75).contains($0) })
    }
}
