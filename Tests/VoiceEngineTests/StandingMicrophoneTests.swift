import Synchronization
import Testing
import VoiceDevices
import VoiceProcessing
import VoiceRealtime
import VoiceTurns

@testable import VoiceEngine

/// A conversation over sound of the client's own, of whose microphone nothing more comes while somebody speaks.
@Suite("A microphone that stands still in a conversation")
struct StandingMicrophoneTests {
    /// Takes what is loud for speech, at once.
    private final class LoudIsSpeech: EchoStage {
        let traits = {
            var traits = EchoTraits(library: "loud")
            traits.cancels = false
            traits.hasNearEnd = false
            return traits
        }()
        let delay = 0
        private var isSpeaking = false
        private var elapsed = Duration.zero

        func apply(_ settings: ProcessingSettings) -> Int? { nil }

        func run(
            capture: inout MutableSpan<Float>, reference: Span<Float>, delay: Int, report: inout ProcessingReport
        ) {
            let isLoud = report.inputLevel > -40
            report.speechProbability = isLoud ? 1 : 0
            report.voiceActivity = isLoud
            if isLoud != isSpeaking {
                report.speech = isLoud ? .speechStarted(at: elapsed) : .speechEnded(at: elapsed)
            }
            isSpeaking = isLoud
            elapsed += .milliseconds(10)
            report.processedTime = elapsed
        }
    }

    /// What the conversation knows of the world, and tells it.
    private final class World: Sendable {
        static let start = MonotonicTime(nanoseconds: 1_000_000_000)
        let now = Atomic<Int64>(World.start.nanoseconds)
        let told = Mutex<[TurnEvent]>([])
        var time: Duration { .nanoseconds(now.load(ordering: .relaxed)) }
    }

    private final class Rig {
        let conversation: ConversationCore
        private let client = ClientDevice()
        private let core: EngineCore
        private let world = World()
        private var blocks = 0

        init() throws {
            var configuration = EngineConfiguration.headset
            configuration.backend = .custom("loud") { _, _ in LoudIsSpeech() }
            configuration.device = .custom(client)
            core = try EngineCore(configuration, eventWake: nil) { _ in }
            let world = world
            conversation = try core.converse(
                .duplex(), FarEndConfiguration(), clock: { world.time },
                tell: { event in if let event { world.told.withLock { $0.append(event) } } }, timeoutChanged: { _ in })
        }

        var told: [TurnEvent] { world.told.withLock { $0 } }

        /// Lets so many blocks of 10 ms pass, in which this comes of the microphone, and the agent has something to say.
        ///
        /// - Returns: the loudest of what was played in the last block.
        @discardableResult
        func run(_ count: Int, microphone: Float?, answering answer: UtteranceID? = nil) -> Float {
            let sound = [Float](repeating: 0.1, count: 960)
            var output = [Float](repeating: 0, count: 480)
            for _ in 0..<count {
                let now = World.start.advanced(byFrames: 480 * blocks, sampleRate: 48_000)
                blocks += 1
                world.now.store(now.nanoseconds, ordering: .relaxed)
                if let microphone { client.sendAudioData([Float](repeating: microphone, count: 480), time: now) }
                if let answer, conversation.farEnd.offer(sound.span, utterance: answer) > 0 {
                    conversation.answerQueued(answer)
                }
                client.pullPlayback(into: &output, time: now)
                core.run(now: now)
                while core.nextEvent() != nil {}
                conversation.handleTimeout()
            }
            return output.reduce(0) { max($0, abs($1)) }
        }
    }

    @Test("an answer that is held, since somebody speaks into it, goes on")
    func held() throws {
        let rig = try Rig()
        rig.run(100, microphone: 0.0005)
        let answer = try rig.conversation.answer(nil).utterance
        let before = rig.run(60, microphone: 0.0005, answering: answer)
        #expect(before > 0.02)
        let held = rig.run(30, microphone: 0.1, answering: answer)
        #expect(held < 0.001)
        let after = rig.run(150, microphone: nil, answering: answer)
        #expect(after > 0.02)
        let stages = rig.told.compactMap { if case .bargeIn(_, let change) = $0 { change.stage } else { nil } }
        #expect(stages == [.suspected, .held, .none])
        #expect(rig.conversation.turnState == .responding)
    }

    @Test("a turn ends with the last that came, once")
    func turn() throws {
        let rig = try Rig()
        rig.run(100, microphone: 0.0005)
        rig.run(50, microphone: 0.1)
        #expect(rig.conversation.turnState == .listening)
        rig.run(150, microphone: nil)
        #expect(rig.conversation.turnState == .thinking)
        // It is back, and nobody speaks any more.
        rig.run(100, microphone: 0.0005)
        let lengths = rig.told.compactMap { if case .turnEnded(let turn) = $0 { turn.end - turn.start } else { nil } }
        #expect(lengths == [.milliseconds(500)])
        #expect(rig.told.count { if case .speechEnded = $0 { true } else { false } } == 1)
    }
}
