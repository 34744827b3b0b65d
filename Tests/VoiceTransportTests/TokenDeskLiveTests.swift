import Synchronization
import Testing
import VoicePeers
import VoiceRealtime

@testable import VoiceRooms
@testable import VoiceTransport

@Suite("Tokens on a thread of their own")
struct TokenDeskLiveTests {
    @Test("so many verdicts are taken at once, in order, and the thread that takes them is woken for the rest")
    func portions() throws {
        // Given more tokens than are looked at for one turn
        let answered = try WakeSignal()
        let desk = try TokenDesk(verifier: TokenVerifier(keys: [testKey()]), answered: answered)
        let tokens = (1...200 as ClosedRange<UInt64>).map {
            VerificationRequest(
                id: VerificationRequest.ID(rawValue: $0), peer: PeerID(slot: 0, generation: 0), token: [])
        }
        for token in tokens { desk.ask(token) }
        // When they are taken by who waits to be woken
        var taken: [VerificationRequest.ID] = []
        while taken.count < tokens.count {
            let isWoken = answered.wait(timeout: .seconds(60))
            try #require(isWoken, "\(taken.count) were taken")
            let verdicts = desk.takeVerdicts()
            #expect(verdicts.count <= TokenDesk.verdictsAtOnce)
            taken += verdicts.map(\.0)
        }
        // Then each was, once
        #expect(taken == tokens.map(\.id))
    }

    @Test("of what waits the first are taken, and whether more is left is told")
    func first() {
        let waiting = Mutex([1, 2, 3, 4, 5])
        for (elements, isMore) in [([1, 2], true), ([3, 4], true), ([5], false), ([], false)] {
            let taken = waiting.take(atMost: 2)
            #expect(taken.elements == elements && taken.isMore == isMore)
        }
    }
}
