import Testing
import VoicePartner

@testable import ControlServer

/// By hand, piece by piece: which of several turns the one recogniser hears when.
@Suite("One recogniser for all", .timeLimit(.minutes(10)))
struct RecognitionTests {
    /// A turn that is spoken piece by piece.
    private final class Turn: Sendable {
        private let continuation: AsyncStream<[Float]>.Continuation
        private let task: Task<String?, Never>
        private let partials: AsyncStream<String>

        init(_ recognition: Recognition) {
            let (sound, continuation) = AsyncStream.makeStream(of: [Float].self)
            let (partials, told) = AsyncStream.makeStream(of: String.self)
            self.continuation = continuation
            self.partials = partials
            task = Task {
                try? await SharedRecogniser(recognition: recognition).recognise(sound) { told.yield($0) }
            }
        }

        func hear(_ frames: Int) { continuation.yield([Float](repeating: 0.1, count: frames)) }

        /// Waits until the recogniser has heard so much of it.
        func isHeard(_ frames: Int) async {
            for await partial in partials where partial == "\(frames)" { return }
        }

        func end() async -> String? {
            continuation.finish()
            return await task.value
        }

        func cancel() { task.cancel() }
    }

    @Test("A turn that nobody disturbs is heard while it is spoken")
    func alone() async {
        let recognition = Recognition(OneTurnRecogniser())
        let turn = Turn(recognition)
        turn.hear(320)
        await turn.isHeard(320)
        turn.hear(640)
        #expect(await turn.end() == "960 frames")
    }

    @Test("Of two that are spoken at once both come out whole, whichever ends first", arguments: [true, false])
    func together(firstEndsFirst: Bool) async {
        let recogniser = OneTurnRecogniser()
        let recognition = Recognition(recogniser)
        let first = Turn(recognition)
        first.hear(320)
        await first.isHeard(320)
        let second = Turn(recognition)
        second.hear(100)
        if firstEndsFirst {
            #expect(await first.end() == "320 frames")
            #expect(await second.end() == "100 frames")
        } else {
            #expect(await second.end() == "100 frames")
            first.hear(320)
            #expect(await first.end() == "640 frames")
        }
        #expect(await recogniser.done == 2)
    }

    @Test("Who talks on and on keeps nobody from being understood, a whole question and a bot's turn neither")
    func endless() async throws {
        let recognition = Recognition(OneTurnRecogniser())
        let talker = Turn(recognition)
        talker.hear(320)
        await talker.isHeard(320)
        #expect(try await recognition.recognise([0.1, 0.1]) == "2 frames")
        talker.hear(320)
        #expect(try await recognition.recognise([0.1]) == "1 frames")
        #expect(await talker.end() == "640 frames")
    }

    @Test("A turn that nobody wants any more lets the recogniser go")
    func cancelled() async throws {
        let recognition = Recognition(OneTurnRecogniser())
        let dropped = Turn(recognition)
        dropped.hear(320)
        await dropped.isHeard(320)
        dropped.cancel()
        let next = Turn(recognition)
        next.hear(160)
        // While it is spoken, as if there had been no other.
        await next.isHeard(160)
        #expect(await dropped.end() == "")
        #expect(await next.end() == "160 frames")
    }
}
