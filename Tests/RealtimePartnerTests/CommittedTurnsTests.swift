import Testing
import VoiceTurns

@testable import RealtimePartner

@Suite("The turns of a server's items")
struct CommittedTurnsTests {
    @Test("are known by the name that was given last, of the newest few")
    func names() {
        var turns = CommittedTurns()
        for number in 1...20 as ClosedRange<UInt32> { turns.add("item_\(number)", TurnID(rawValue: number)) }
        #expect(turns.turn(of: "item_19") == TurnID(rawValue: 19))
        #expect(turns.turn(of: "item_1") == nil && turns.turn(of: nil) == nil)
        // A server that came back counts anew
        turns.add("item_19", TurnID(rawValue: 21))
        #expect(turns.turn(of: "item_19") == TurnID(rawValue: 21))
    }
}
