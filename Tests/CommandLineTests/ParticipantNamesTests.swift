import Testing
import VoiceEngine

@testable import duplex

@Suite("What participants are called in a call's log")
struct ParticipantNamesTests {
    private static func participant(_ number: Int) -> ParticipantID { ParticipantID(rawValue: UInt32(number)) }

    @Test("the latest who have gone are remembered, and no more of them")
    func gone() {
        // Given one who stays, and many who come and go
        var names = ParticipantNames()
        names.remember(Self.participant(1), as: "stays")
        let last = 10_000
        for number in 2...last {
            names.remember(Self.participant(number), as: "name \(number)")
            names.leave(Self.participant(number))
            names.leave(Self.participant(number))
        }
        #expect(names[Self.participant(1)] == "stays")
        let known = (2...last).filter { names[Self.participant($0)] == "name \($0)" }
        #expect(known == Array(last - ParticipantNames.goneLimit + 1...last))
        #expect(names[Self.participant(2)] == "participant 2")
    }

    @Test("who has the number of one who has gone, as after a server's restart, keeps its name")
    func reused() {
        var names = ParticipantNames()
        names.remember(Self.participant(1), as: "old")
        names.leave(Self.participant(1))
        names.remember(Self.participant(1), as: "new")
        for number in 2...2 + ParticipantNames.goneLimit {
            names.remember(Self.participant(number), as: "another")
            names.leave(Self.participant(number))
        }
        #expect(names[Self.participant(1)] == "new")
    }
}
