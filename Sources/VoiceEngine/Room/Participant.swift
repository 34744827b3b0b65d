public import VoiceRooms
package import VoiceTurns

/// Somebody in the room.
public struct Participant: Sendable, Hashable {
    /// Their identifier in this room.
    public let id: ParticipantID
    /// Who they are, as their token's `sub` says.
    public let identity: String
    /// What to call them, as their token's `name` says.
    public let name: String
    /// Whether they talk, or only listen.
    public internal(set) var role: RoomRole
    /// What they tell of themselves; see ``VoiceEngine/setAttribute(_:to:)``.
    public internal(set) var attributes: ParticipantAttributes
}

extension Participant {
    init(_ entry: RosterEntry) {
        id = entry.participant
        identity = entry.identity
        name = entry.name
        role = entry.role
        attributes = entry.attributes
    }

    /// Whether it says that it speaks for a machine. Agents do not answer agents unless they are told to.
    public var isAgent: Bool { attributes.isOfAgent }
}

extension ParticipantAttributes {
    /// Whether they are those of a participant that speaks for a machine.
    public var isOfAgent: Bool { self[AgentAttribute.kind.rawValue] == AgentAttribute.agentKind }
}

/// What an agent does, as ``AgentAttribute/state`` tells it.
public enum AgentState: String, Sendable, CaseIterable {
    /// It hears what is said, or waits for somebody to speak.
    case listening
    /// Somebody has spoken, and nothing is heard of its answer yet.
    case thinking
    /// Its answer is heard.
    case responding

    /// What the state of a conversation is for others.
    package init(_ state: TurnState) {
        self =
            switch state {
            case .idle, .listening: .listening
            case .thinking: .thinking
            case .responding: .responding
            }
    }
}

/// Attributes with a meaning of their own; docs/protocol.md, section 6.
public enum AgentAttribute: String, Sendable {
    /// What a participant is: ``agentKind`` of one that speaks for a machine.
    case kind = "dv.kind"
    /// What an agent does: see ``AgentState``.
    case state = "dv.state"

    /// The value of ``kind`` of an agent.
    public static let agentKind = "agent"
}
