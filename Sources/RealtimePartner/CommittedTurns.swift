internal import VoiceEngine

/// Which turn a server's names for what was said belong to, of the newest few: what was said in a turn is often known
/// only when the next one has begun.
struct CommittedTurns {
    private static let capacity = 16

    private var turns: [(item: String, turn: TurnID)] = []

    /// The server has the sound of a turn, under this name.
    mutating func add(_ item: String, _ turn: TurnID) {
        turns.append((item, turn))
        if turns.count > Self.capacity { turns.removeFirst() }
    }

    /// The turn that has this name; nil where it is not known.
    func turn(of item: String?) -> TurnID? { turns.last { $0.item == item }?.turn }
}
