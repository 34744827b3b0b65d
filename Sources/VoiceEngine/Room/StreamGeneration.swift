/// Which generation of a stream is in force here: the one that the room has told, and one more for each interruption of
/// ours that it has not answered.
///
/// Whoever interrupts does not wait for the room: the generation that it will most likely number is in force at once.
/// Where another was first, the room's number is higher and its message says so; where the room refuses, the one before
/// is in force again.
struct StreamGeneration: Equatable {
    /// The room's last number.
    private(set) var told: UInt32
    /// Interruptions of ours that the room has not answered.
    private(set) var unanswered: UInt32 = 0

    /// A stream that the roster told of.
    init(_ told: UInt32) { self.told = told }

    var inForce: UInt32 { told &+ unanswered }

    /// Interrupts, before the room has.
    mutating func interrupt() { unanswered += 1 }

    /// The room has refused an interruption of ours.
    mutating func withdraw() { unanswered -= min(unanswered, 1) }

    /// What was not answered will not be: another stay, or events that were lost.
    mutating func forgetUnanswered() { unanswered = 0 }

    /// Takes the room's number; `isOurs` where it answers an interruption of ours.
    mutating func take(_ generation: UInt32, isOurs: Bool = false) {
        if isOurs { withdraw() }
        if Int32(bitPattern: generation &- told) > 0 { told = generation }
    }
}
