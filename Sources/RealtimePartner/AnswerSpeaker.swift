internal import VoiceDialog
internal import VoiceEngine
internal import VoicePartner

/// Speaks one answer: takes its sound when there is some, and gives it to the engine, which may let it wait.
struct AnswerSpeaker: Sendable {
    private let answer: SpokenAnswer
    private var captions = CaptionCursor()
    /// Some of it was given to the engine.
    var hasPlayed = false
    /// All of it came.
    private(set) var isWhole = false
    private let sounds: AsyncStream<Void>.Continuation
    private let task: Task<Void, Never>

    /// How much is given at once: 100 ms at 24 kHz. What was taken cannot be held back.
    private static let portion = 2_400

    /// - Parameter take: takes up to so many samples of it; none where none wait.
    init(
        _ answer: SpokenAnswer, rate: SoundRate, take: @escaping @Sendable (Int) async -> [Int16]
    ) {
        self.answer = answer
        let (stream, sounds) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.sounds = sounds
        task = Task {
            func play() async -> Bool {
                while case let sound = await take(Self.portion), !sound.isEmpty {
                    guard await answer.play(sound, rate: rate) else { return false }
                }
                return true
            }
            for await _ in stream { guard await play() else { return } }
            guard !Task.isCancelled, await play() else { return }
            await answer.finish()
        }
    }

    var turn: TurnID { answer.turn }

    /// How much of it has left the loudspeaker by now.
    var heard: Duration { answer.heard }

    /// Tells when the server was done with its stages.
    func report(_ times: AgentStageTimes) { answer.report(times) }

    /// Of the text that was heard, the words since the last call; nil where there are none.
    mutating func caption(_ text: String) -> String? { captions.take(text) }

    /// There is sound to take.
    func soundWaits() { sounds.yield() }

    /// No more comes; what waits is still spoken.
    mutating func isDone(isWhole: Bool) {
        self.isWhole = isWhole
        sounds.finish()
    }

    /// Nothing more of it is wanted.
    func stop() {
        task.cancel()
        sounds.finish()
    }
}
