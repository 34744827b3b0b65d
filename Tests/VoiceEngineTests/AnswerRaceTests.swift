import SimulatedCalls
import Synchronization
import Testing
import VoiceEngine
import VoiceSimulation
import VoiceTurns

@Suite("An answer that is cut while its first sound is taken")
struct AnswerRaceTests {
    /// The answer whose sound is being taken; 0: no more are.
    private final class Present: Sendable {
        let answer = Atomic<UInt32>(1)
    }

    @Test("it will be told how far it was heard, or is over at once")
    func cutAtItsFirstSound() async throws {
        let talk = try SimulatedConversation(
            SimulatedConversation.Configuration(talker: SpeechSource([0], repetition: .once)))
        let core = talk.conversation
        let present = Present()
        let taking = Task.detached {
            while case let answer = present.answer.load(ordering: .relaxed), answer > 0 {
                core.answerQueued(UtteranceID(rawValue: answer))
            }
        }
        var lost = 0
        for _ in 0..<5_000 {
            let (utterance, turn) = try core.answer(nil)
            present.answer.store(utterance.rawValue, ordering: .relaxed)
            core.perform { machine, _ in try? machine.cancel() }
            let isAwaited = core.perform { machine, _ in machine.isLeaving(turn) }
            if !isAwaited, core.caption(of: utterance)?.isFinal != true { lost += 1 }
        }
        present.answer.store(0, ordering: .relaxed)
        await taking.value
        #expect(lost == 0)
    }
}
