internal import Synchronization
internal import VoiceDevices
package import VoiceEngine
internal import VoiceRealtime
package import VoiceSimulation

/// An engine in a room with a person and a loudspeaker, and a conversation with an agent in the engine's own process,
/// in simulated time: the same bits for the same seed on every run.
///
///     person ─► room ─► microphone ─► engine ─► conversation ─► events
///                 ▲                      │            ▲
///                 └─── loudspeaker ◄─────┘            └─ the agent's answers, which the caller gives
///
/// One thread, which is the caller's.
package final class SimulatedConversation {
    /// What is simulated.
    package struct Configuration: Sendable {
        /// Where every random number comes from.
        package var seed: UInt64 = 1
        /// The engine's; the device in it is not used.
        package var engine: EngineConfiguration = .voiceAgent
        /// How turns begin and end.
        package var mode: TalkMode = .duplex()
        /// The room.
        package var room: RoomConditions = .office
        /// The person.
        package var talker: SpeechSource
        /// How much faster than nominal the device runs, ppm.
        package var driftPPM = 0.0
        /// Frames in a device period.
        package var periodFrames = 240
        /// The longest that it may last.
        package var longest: Duration = .seconds(60)

        /// A conversation with this person.
        package init(talker: SpeechSource) { self.talker = talker }
    }

    /// Something that came out of the conversation, and when.
    package struct Told: Sendable {
        /// Since the beginning.
        package var time: Duration
        /// What.
        package var event: TurnEvent
    }

    private final class Clock: Sendable {
        let now = Atomic<Int64>(SimulatedConversation.start.nanoseconds)
        var duration: Duration { .nanoseconds(now.load(ordering: .relaxed)) }
    }

    /// Simulated time begins here; not at zero, so that nothing can mistake zero for "unknown".
    private static let start = MonotonicTime(nanoseconds: 1_000_000_000)

    private let device: SimulatedDevice<ConversationAir>
    private let core: EngineCore
    private let clock = Clock()
    private let waiting = Waiting()
    /// The conversation.
    package let conversation: ConversationCore
    /// What came out of it so far.
    package private(set) var told: [Told] = []
    private var now = SimulatedConversation.start
    private var nextRun: MonotonicTime?
    private let end: MonotonicTime

    /// Events on their way from the conversation to `told`.
    private final class Waiting: Sendable {
        let events = Mutex<[TurnEvent]>([])
    }

    /// Starts the engine and the conversation.
    package init(_ configuration: Configuration) throws {
        var generator = SeededGenerator(seed: configuration.seed)
        let frames = Int(configuration.longest / .milliseconds(1)) * 48
        let air = ConversationAir(
            acoustics: try RoomAcoustics(configuration.room, seed: generator.next()), talker: configuration.talker,
            longestRecording: frames)
        var shape = SimulatedDeviceConfiguration(pacing: .virtual(start: Self.start))
        shape.periodFrames = configuration.periodFrames
        shape.driftPPM = configuration.driftPPM
        device = try SimulatedDevice(air: air, configuration: shape)
        var engine = configuration.engine
        engine.device = .custom(device)
        core = try EngineCore(engine, keepsDeadlines: true, eventWake: nil) { _ in }
        end = Self.start.advanced(byFrames: frames, sampleRate: 48_000)
        let (clock, waiting) = (clock, waiting)
        conversation = try core.converse(
            configuration.mode, FarEndConfiguration(nearEndRate: .hertz48000), clock: { clock.duration },
            tell: { event in if let event { waiting.events.withLock { $0.append(event) } } }, timeoutChanged: { _ in })
    }

    /// Time passed since the beginning.
    package var elapsed: Duration { now.sinceEpoch - Self.start.sinceEpoch }

    /// When the beginning was, on the clock of the conversation's times.
    package var beginning: Duration { Self.start.sinceEpoch }

    /// Lets `duration` pass, at most to the configured end.
    ///
    /// - Parameter react: called when the conversation has told something, so that an agent may answer at that instant.
    package func run(for duration: Duration, react: (TurnEvent) -> Void = { _ in }) {
        let target = min(now.advanced(byFrames: Int(duration / .milliseconds(1)) * 48, sampleRate: 48_000), end)
        step(react)
        var standing = 0
        while let next = nextInstant, next <= target {
            standing = next > now ? 0 : standing + 1
            precondition(standing < 10_000, "something is due at \(next) again and again")
            now = max(now, next)
            step(react)
        }
        now = target
    }

    /// Ends the recording for a replay, where the configuration asks for one.
    package func closeRecording() { core.recorder?.close() }

    /// What happened in the room so far.
    package var recording: AirRecording { device.withAir { $0.recording } }

    /// What the engine has counted.
    package var statistics: EngineStatistics {
        EngineStatistics(core.statistics(), device: core.counters.counts, roundTrip: nil, room: nil)
    }

    /// Gives an answer's sound to the engine all at once, and says that nothing more comes; false where it does not fit
    /// into the queue, or the answer is over.
    @discardableResult
    package func answer(_ turn: TurnID?, _ samples: [Float]) -> Bool {
        guard let utterance = takeAnswer(turn) else { return false }
        let isWhole = offer(samples, of: utterance)
        finish(utterance)
        return isWhole
    }

    /// Takes the agent's turn; nil where nobody wants an answer to `turn`.
    package func takeAnswer(_ turn: TurnID?) -> UtteranceID? {
        try? conversation.answer(turn).utterance
    }

    /// Gives the engine more sound of an answer; false where not all of it fits into the queue.
    @discardableResult
    package func offer(_ samples: [Float], of answer: UtteranceID) -> Bool {
        offer(fitting: samples, of: answer) == samples.count
    }

    /// Gives the engine as much more sound of an answer as fits into the queue. Returns how many samples those were.
    package func offer(fitting samples: [Float], of answer: UtteranceID) -> Int {
        let taken = conversation.farEnd.offer(samples.span, utterance: answer)
        if taken > 0 {
            conversation.extend(answer, by: .seconds(taken) / 48_000)
            conversation.answerQueued(answer)
        }
        return taken
    }

    /// Says that nothing more of an answer comes.
    package func finish(_ answer: UtteranceID) {
        _ = conversation.farEnd.access.finish(answer.rawValue)
        conversation.finishAnswer(answer)
    }

    /// How much of an answer has left the DAC by now.
    package func heard(of answer: UtteranceID) -> Duration { conversation.heard(of: answer) }

    private var nextInstant: MonotonicTime? {
        var instants: [MonotonicTime] = []
        if let wake = device.nextWake { instants.append(wake) }
        if let nextRun { instants.append(nextRun) }
        if let timeout = conversation.nextTimeout { instants.append(MonotonicTime(atOrAfter: timeout)) }
        return instants.min()
    }

    private func step(_ react: (TurnEvent) -> Void) {
        clock.now.store(now.nanoseconds, ordering: .relaxed)
        _ = device.advance(to: now)
        nextRun = core.run(now: now)
        core.recorder?.drain()
        while core.nextEvent() != nil {}
        conversation.handleTimeout()
        while true {
            let events = waiting.events.withLock { events in
                defer { events = [] }
                return events
            }
            if events.isEmpty { return }
            for event in events {
                told.append(Told(time: elapsed, event: event))
                react(event)
            }
        }
    }
}
