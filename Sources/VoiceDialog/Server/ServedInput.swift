/// The input buffer of a served session: what the talker says, until it is committed.
///
/// Positions are samples since the session began, or since its format last changed.
struct ServedInput: Sendable {
    /// What a turn may hold; a longer one is committed, or refused where the client commits.
    static let longestTurn = Duration.seconds(60)
    /// What is kept while nobody speaks: the longest prefix, and what it takes to be sure.
    static let preRoll = Duration.seconds(3)
    /// Less is refused as empty.
    static let shortestTurn = Duration.milliseconds(100)

    let sound: DialogSound
    /// When position 0 was, since the session began.
    let origin: Duration
    private(set) var samples: [Int16] = []
    /// The position of the buffer's first sample.
    private var start = 0

    init(_ sound: DialogSound, origin: Duration) {
        self.sound = sound
        self.origin = origin
    }

    /// Where the next sample comes.
    var end: Int { start + samples.count }

    func count(_ duration: Duration) -> Int { Int(duration / .seconds(1) * Double(sound.rate)) }

    /// Since the session began.
    func time(_ position: Int) -> Duration { origin + sound.duration(position) }

    var isFull: Bool { samples.count >= count(Self.longestTurn) }
    var isTooShort: Bool { samples.count < count(Self.shortestTurn) }

    mutating func append(_ more: [Int16]) { samples += more }

    /// Forgets what is older than so much.
    mutating func keep(_ duration: Duration) {
        let excess = samples.count - count(duration)
        // In larger steps, since what is kept moves.
        guard excess > sound.rate else { return }
        forget(before: start + excess)
    }

    /// Forgets what comes before a position; returns the first that is left.
    @discardableResult
    mutating func forget(before position: Int) -> Int {
        let count = min(max(0, position - start), samples.count)
        samples.removeFirst(count)
        start += count
        return start
    }

    /// Takes what comes before a position.
    mutating func take(before position: Int) -> [Int16] {
        let taken = Array(samples.prefix(max(0, position - start)))
        forget(before: position)
        return taken
    }
}
