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
        // Also where what follows throws
        defer { present.answer.store(0, ordering: .relaxed) }
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

    @Test("it is known that nothing of it was heard, although whoever gave the sound had yet to tell of it")
    func cutBeforeItsSoundIsTold() async throws {
        let talk = try SimulatedConversation(
            SimulatedConversation.Configuration(talker: SpeechSource([0], repetition: .once)))
        let core = talk.conversation
        let utterance = try #require(talk.takeAnswer(nil))
        core.caption("Hello.", of: utterance)
        // When the engine has taken its first sound, and it is cancelled before that is told
        let sound = [Float](repeating: 0.1, count: 4_800)
        #expect(core.farEnd.offer(sound.span, utterance: utterance) == 4_800)
        let turn = try #require(try core.cancelAwaiting())
        core.answerQueued(utterance)
        talk.run(for: .milliseconds(500))
        // Then its receipt comes, once, and says that
        let heard = try #require(await core.receipt(of: turn))
        #expect(heard.heard == .zero && heard.reason == .cancelled)
        let events = talk.told.map(\.event)
        #expect(events.count { if case .answerEnded = $0 { true } else { false } } == 1)
        #expect(!events.contains(.stateChanged(.responding, turn)) && core.turnState == .idle)
        #expect(core.caption(of: utterance)?.isFinal == true && core.caption(of: utterance)?.heard == "")
        let past = ConversationHistory.PastAnswer(text: "Hello.", heard: "", heardMilliseconds: 0, end: .cancelled)
        #expect(core.history.turns.last?.answer == past)
    }
}
