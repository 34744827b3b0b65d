/// Whether a participant talks in a room or only listens. It may change during the stay.
public enum RoomRole: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    /// It may publish, as far as its token allows.
    case talker = 0
    /// It publishes nothing.
    case listener = 1
}
