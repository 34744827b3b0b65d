/// One thing that a playout buffer decided, for a log or a plot.
package struct PlayoutDecision: Equatable, Sendable, BitwiseCopyable {
    /// What was decided.
    package enum Kind: UInt8, Sendable, BitwiseCopyable, CaseIterable {
        /// A packet's sound is played.
        case play
        /// Lost sound is played from the copy in a later packet.
        case restore
        /// Lost sound is made up.
        case conceal
        /// Sound that has not come is made up, for the time being.
        case bridge
        /// Nothing is expected from the sender.
        case pause
        /// Playout is sped up: so many frames are taken out.
        case shorten
        /// Playout is slowed down: so many frames are put in.
        case lengthen
        /// Sound that came too late, or that too much waits of, is passed over.
        case skip
        /// All that waited was dropped on request.
        case flush
    }

    /// What was decided.
    package internal(set) var kind: Kind
    /// How much sound it is about.
    package internal(set) var frames: Int
    /// From which pulled frame on it is heard.
    package internal(set) var pulledFrame: Int64
}

/// The decisions not yet taken away; where nobody takes them, the oldest give way.
@safe struct DecisionLog: ~Copyable {
    private let decisions: UnsafeMutablePointer<PlayoutDecision>
    private var taken = 0
    private var noted = 0

    private static let capacity = 256

    init() {
        unsafe decisions = .allocate(capacity: Self.capacity)
        unsafe decisions.initialize(
            repeating: PlayoutDecision(kind: .pause, frames: 0, pulledFrame: 0), count: Self.capacity)
    }

    deinit { unsafe decisions.deallocate() }

    mutating func reset() { (taken, noted) = (0, 0) }

    mutating func note(_ kind: PlayoutDecision.Kind, frames: Int, at pulledFrame: Int64) {
        unsafe decisions[noted % Self.capacity] = PlayoutDecision(
            kind: kind, frames: frames, pulledFrame: pulledFrame)
        noted += 1
        taken = max(taken, noted - Self.capacity)
    }

    mutating func take() -> PlayoutDecision? {
        guard taken < noted else { return nil }
        taken += 1
        return unsafe decisions[(taken - 1) % Self.capacity]
    }
}
