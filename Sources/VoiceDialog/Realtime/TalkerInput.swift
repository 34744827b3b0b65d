/// What the talker says, until the server has it.
///
/// While a turn is open its sound is kept, so that it can be sent again to a server that came back; before it, the last
/// two seconds, since a turn is known to have begun only when somebody has spoken for a while.
struct TalkerInput: Sendable {
    /// What is kept of a turn; of a longer one the beginning is not sent again.
    static let longestTurn = Duration.seconds(60)
    static let preRoll = Duration.seconds(2)
    /// From before the talker was heard, so that the first word is whole.
    static let margin = Duration.milliseconds(300)
    /// A server refuses less as empty.
    static let shortestTurn = Duration.milliseconds(120)
    /// How much a message holds at least, so that the overhead is small.
    private static let message = Duration.milliseconds(40)
    /// At most: a turn that is sent again goes in pieces.
    private static let longestMessage = Duration.milliseconds(500)

    private(set) var isOpen = false
    private(set) var sound: [Int16] = []
    private var sent = 0
    private let rate: Int

    init(rate: Int) { self.rate = rate }

    private func samples(_ duration: Duration) -> Int { Int(duration / .milliseconds(1)) * rate / 1_000 }

    mutating func append(_ samples: [Int16]) {
        sound += samples
        let limit = self.samples(isOpen ? Self.longestTurn : Self.preRoll)
        // In larger steps, since what is kept moves.
        guard sound.count > limit + self.samples(.seconds(1)) else { return }
        let excess = sound.count - limit
        sound.removeFirst(excess)
        sent = max(0, sent - excess)
    }

    /// - Parameter began: how long ago the talker began.
    mutating func open(began: Duration = .zero) {
        guard !isOpen else { return }
        let kept = samples(min(max(began, .zero) + Self.margin, Self.preRoll))
        sound.removeFirst(max(0, sound.count - kept))
        isOpen = true
        sent = 0
    }

    /// Ends the turn; returns all of it that is kept.
    mutating func close() -> [Int16] {
        pad()
        defer { drop() }
        return sound
    }

    mutating func drop() {
        isOpen = false
        sound = []
        sent = 0
    }

    mutating func pad() {
        let missing = samples(Self.shortestTurn) - sound.count
        if missing > 0 { sound += [Int16](repeating: 0, count: missing) }
    }

    /// What was sent is the server's business.
    mutating func forget() {
        sound.removeFirst(sent)
        sent = 0
    }

    /// The connection is new: nothing was sent on it.
    mutating func rewind() { sent = 0 }

    /// The next that is to be sent; nil where too little waits for a message of its own, unless it is to be all.
    mutating func next(all: Bool) -> ArraySlice<Int16>? {
        let waiting = sound.count - sent
        guard isOpen, waiting >= (all ? 1 : samples(Self.message)) else { return nil }
        let part = sound[sent..<(sent + min(waiting, samples(Self.longestMessage)))]
        sent = part.endIndex
        return part
    }
}
