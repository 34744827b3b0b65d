import Foundation
import Testing

@testable import VoiceTurns

@Suite("The history of a conversation")
struct ConversationHistoryTests {
    private func turn(_ number: UInt32, _ start: Int, _ end: Int, continued: UInt32? = nil) -> Turn {
        Turn(id: TurnID(rawValue: number), start: ms(start), end: ms(end), continued: continued.map(TurnID.init))
    }

    private func history() -> ConversationHistory {
        var history = ConversationHistory(id: "kitchen")
        history.handle(.turnEnded(turn(1, 1_000, 2_500)))
        history.recognised("What time is it?", in: TurnID(rawValue: 1))
        let heard = HeardAnswer(heard: ms(700), end: ms(4_000), reason: .interrupted)
        history.answerEnded(TurnID(rawValue: 1), heard, text: "It is noon.", heard: "It is")
        return history
    }

    @Test("has what was said, what was answered and how much of it was heard, and comes back from JSON as it was")
    func json() throws {
        let history = history()
        let turn = try #require(history.turns.first)
        #expect(turn.said == "What time is it?" && turn.spokenMilliseconds == 1_500)
        #expect(
            turn.answer == .init(text: "It is noon.", heard: "It is", heardMilliseconds: 700, end: .interrupted))
        let data = try JSONEncoder().encode(history)
        #expect(try JSONDecoder().decode(ConversationHistory.self, from: data) == history)
        #expect(history.lastTurn == 1)
    }

    @Test("a turn that goes on with another stands in its place; an answer that nobody asked for has a turn of its own")
    func places() {
        var history = history()
        history.handle(.turnEnded(turn(2, 5_000, 6_000)))
        history.handle(.turnEnded(turn(3, 5_000, 8_000, continued: 2)))
        let heard = HeardAnswer(heard: ms(300), end: ms(9_000), reason: .complete)
        history.answerEnded(TurnID(rawValue: 4), heard, text: "Hello.", heard: "Hello.")
        history.handle(.turnEnded(turn(6, 10_000, 11_000)))
        // Told late, of a device that held it
        history.answerEnded(TurnID(rawValue: 3), heard, text: "", heard: "")
        #expect(history.turns.map(\.turn) == [1, 3, 4, 6])
        #expect(history.turns.map { $0.answer != nil } == [true, true, true, false])
        #expect(history.turns.map { $0.spokenMilliseconds } == [1_500, 3_000, nil, 1_000])
        history.recognised("late", in: TurnID(rawValue: 5))
        #expect(history.turns.count == 4)
    }

    @Test("an answer that was given up unheard, because the talker went on, leaves nothing, whenever its end is told")
    func goneOn() {
        for isLate in [false, true] {
            var history = history()
            history.handle(.turnEnded(turn(2, 5_000, 6_000)))
            history.recognised("What is", in: TurnID(rawValue: 2))
            let unheard = HeardAnswer(heard: .zero, end: ms(6_900), reason: .continued)
            if !isLate { history.answerEnded(TurnID(rawValue: 2), unheard, text: "It is noon.", heard: "") }
            history.handle(.turnEnded(turn(3, 5_000, 8_000, continued: 2)))
            if isLate { history.answerEnded(TurnID(rawValue: 2), unheard, text: "It is noon.", heard: "") }
            #expect(history.turns.map(\.turn) == [1, 3])
            #expect(history.turns.last?.spokenMilliseconds == 3_000 && history.turns.last?.answer == nil)
        }
    }

    @Test("words that are known before the answer's end are there behind it, unless the app tells others")
    func earlyWords() {
        for told in ["", "By the app."] {
            var history = history()
            let turn = TurnID(rawValue: 2)
            history.answered("It is one.", heard: "It", in: turn)
            #expect(history.turns.count == 1 && history == self.history())
            let heard = HeardAnswer(heard: ms(300), end: ms(9_000), reason: .cancelled)
            history.answerEnded(turn, heard, text: told, heard: told)
            #expect(history.turns.last?.answer?.text == (told.isEmpty ? "It is one." : told))
            #expect(history.turns.last?.answer?.heard == (told.isEmpty ? "It" : told))
            // Once
            history.answerEnded(TurnID(rawValue: 3), heard, text: "", heard: "")
            #expect(history.turns.last?.answer?.text == "")
        }
    }

    @Test("is bounded")
    func bounded() {
        var history = ConversationHistory()
        let long = String(repeating: "a", count: 20_000)
        for number in 1...300 as ClosedRange<UInt32> {
            history.handle(.turnEnded(turn(number, 0, 10)))
            history.recognised(long, in: TurnID(rawValue: number))
        }
        #expect(history.turns.count == ConversationHistory.capacity)
        #expect(history.turns.first?.turn == 45 && history.lastTurn == 300)
        #expect(history.turns.allSatisfy { $0.said?.count == ConversationHistory.longestText })
        // What is forgotten stays so
        history.answerEnded(
            TurnID(rawValue: 3), HeardAnswer(heard: .zero, end: .zero, reason: .complete), text: "", heard: "")
        #expect(history.turns.first?.turn == 45)
    }

    @Test("what is no history is refused")
    func hostile() {
        let turns = ["{\"turn\":2},{\"turn\":1}", "{\"turn\":1},{\"turn\":1}", "{\"turn\":9}"]
        for turns in turns + [Array(repeating: "{\"turn\":1}", count: 300).joined(separator: ",")] {
            let json = "{\"id\":\"\",\"lastTurn\":5,\"turns\":[\(turns)]}"
            #expect(throws: DecodingError.self, "\(turns.prefix(40))") {
                try JSONDecoder().decode(ConversationHistory.self, from: Data(json.utf8))
            }
        }
        // One letter with endless accents is long, too.
        for long in [String(repeating: "a", count: 20_000), "a" + String(repeating: "\u{301}", count: 20_000)] {
            let json = "{\"id\":\"\",\"lastTurn\":5,\"turns\":[{\"turn\":1,\"said\":\"\(long)\"}]}"
            #expect(throws: DecodingError.self) {
                try JSONDecoder().decode(ConversationHistory.self, from: Data(json.utf8))
            }
        }
        // Behind the last number there is no turn.
        let last = "{\"id\":\"\",\"lastTurn\":4294967295,\"turns\":[]}"
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(ConversationHistory.self, from: Data(last.utf8))
        }
    }

    @Test("turns go on behind the last of it")
    func resumed() throws {
        var machine = try TurnMachine(.duplex(), after: TurnID(rawValue: 7))
        #expect(machine.turn == TurnID(rawValue: 7))
        _ = try machine.answer(nil, now: .zero)
        #expect(machine.turn == TurnID(rawValue: 8))
    }
}
