import Testing
import VoiceEngine
import VoicePartner
import VoiceSimulation

@testable import PushToTalk

@Suite("Example: push to talk", .serialized, .timeLimit(.minutes(2)))
struct PushToTalkLiveTests {
    /// Says what it was asked.
    private struct Parrot: Responder {
        func respond(
            to dialogue: Dialogue, say: @escaping @Sendable (String) async -> Bool
        ) async throws(PartnerError) { _ = await say(String(repeating: "\(dialogue.question). ", count: 3)) }
    }

    @Test("a press begins a turn, a press ends it, and a press into the answer cuts it")
    func presses() async throws {
        // Given somebody who talks all the time
        let recogniser = ScriptedRecogniser("hello")
        let partner = CascadePartner(
            recogniser: recogniser, responder: Parrot(), synthesiser: HummingSynthesiser())
        let engine = try engine(hearing: SpeechSource(SyntheticSpeech(seed: 1)))
        let (keys, press) = AsyncStream.makeStream(of: Character.self)
        let shown = Shown<String>()
        let talk = Task { try await pushToTalk(with: partner, on: engine, keys: keys, show: shown.append) }
        #expect(try await shown.wait { $0.count == 1 })
        #expect(recogniser.heardFrames == 0)
        for turn in 1...2 {
            // When they press, speak, and press again; the second time into the answer
            press.yield(" ")
            #expect(try await shown.wait { $0.filter { $0 == "● on air" }.count == turn })
            let before = recogniser.heardFrames
            while recogniser.heardFrames < before + 8_000 { try await Task.sleep(for: .milliseconds(5)) }
            press.yield(" ")
            #expect(try await shown.wait { $0.filter { $0 == "you: hello" }.count == turn })
        }
        // Then they are answered
        #expect(try await shown.wait { $0.last == "partner: hello. hello. hello." }, "\(shown.lines)")
        press.yield("q")
        try await talk.value
    }

    @Test("who presses and says nothing is told so, and c cancels")
    func nothingSaid() async throws {
        let partner = CascadePartner(
            recogniser: ScriptedRecogniser("hello"), responder: Parrot(), synthesiser: HummingSynthesiser())
        let engine = try engine()
        let (keys, press) = AsyncStream.makeStream(of: Character.self)
        let shown = Shown<String>()
        let talk = Task { try await pushToTalk(with: partner, on: engine, keys: keys, show: shown.append) }
        #expect(try await shown.wait { $0.count == 1 })
        for (key, line) in [
            ("c", "not now: idle"), (" ", "● on air"), (" ", "○ nothing was said"), (" ", "● on air"),
            ("c", "○ cancelled"),
        ] {
            press.yield(Character(key))
            #expect(try await shown.wait { $0.last == line }, "\(shown.lines)")
        }
        press.yield("q")
        try await talk.value
    }
}
