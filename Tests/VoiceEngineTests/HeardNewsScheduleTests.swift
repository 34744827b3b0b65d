import Testing
import VoiceRealtime
import VoiceTurns

@testable import VoiceEngine

@Suite("When it is told what was heard of a talker")
struct HeardNewsScheduleTests {
    /// Utterances in packets of 20 ms that leave the DAC as they are pulled, and what is told of them.
    private final class Talker {
        private var ledger = UtteranceLedger()
        private var schedule = HeardNewsSchedule()
        private var frame = 0
        private(set) var told: [(utterance: UInt32, milliseconds: Int, isFinal: Bool, at: Int)] = []

        /// Says 20 ms of an utterance, and asks each 5 ms.
        func say(_ utterance: UInt32, from position: Int) {
            ledger.place(utterance, position: UInt32(position), timestamp: UInt32(frame), frames: 960)
            ledger.pulled(timestamp: UInt32(frame), frames: 960, isMadeUp: false, ringFrame: Double(frame), scale: 1)
            pass(sounding: true)
        }

        func pass(sounding: Bool = false) {
            for _ in 0..<4 {
                if sounding {
                    ledger.rendered(firstFrame: frame, frames: 240, dacNanoseconds: Int64(frame) * 62_500 / 3)
                }
                frame += 240
                let now = MonotonicTime(nanoseconds: Int64(frame) * 62_500 / 3 + 1)
                if let (progress, isFinal) = schedule.next(of: ledger, now: now) {
                    told.append((progress.utterance, progress.frames / 48, isFinal, frame / 48))
                }
            }
        }

        func cut() { schedule.cut() }
    }

    @Test("at its beginning, four times a second, and when another follows, once")
    func utterances() {
        let talker = Talker()
        for packet in 0..<50 { talker.say(1, from: packet * 960) }
        #expect(talker.told.map(\.at) == [5, 255, 505, 755])
        for packet in 0..<10 { talker.say(2, from: packet * 960) }
        #expect(talker.told.map(\.utterance) == [1, 1, 1, 1, 1, 2])
        #expect(talker.told.map(\.isFinal) == [false, false, false, false, true, false])
        #expect(talker.told[4].milliseconds == 993)
        // Of one that stands still nothing is told
        for _ in 0..<100 { talker.pass() }
        #expect(talker.told.count == 7 && talker.told[6].milliseconds == 193)
    }

    @Test("at once when it was cut, and not again when another follows")
    func cut() {
        let talker = Talker()
        for packet in 0..<20 { talker.say(1, from: packet * 960) }
        talker.cut()
        for _ in 0..<3 { talker.pass() }
        #expect(talker.told.map(\.isFinal) == [false, false, true])
        #expect(talker.told[2].at == 405 && talker.told[2].milliseconds == 393)
        for packet in 0..<4 { talker.say(2, from: packet * 960) }
        talker.cut()
        for _ in 0..<3 { talker.pass() }
        talker.cut()
        for _ in 0..<3 { talker.pass() }
        #expect(talker.told.map(\.utterance) == [1, 1, 1, 2, 2])
        #expect(talker.told.map(\.isFinal) == [false, false, true, false, true])
    }

    @Test("however often another utterance is named, it is told forty times a second at most")
    func flood() {
        let talker = Talker()
        for packet in 0..<500 as Range<UInt32> { talker.say(packet, from: 0) }
        // In 10 s
        #expect(talker.told.count > 50 && talker.told.count <= 400)
    }
}
