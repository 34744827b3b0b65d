/// What a client asks for in `join`, and what it gets in `joined`: the asked for, less what its token does not grant.
public struct RoomCapabilities: OptionSet, Hashable, Sendable, BitwiseCopyable {
    /// The bits on the wire. Unknown bits are ignored.
    public let rawValue: UInt32

    /// Wraps bits from the wire.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// To publish streams.
    public static let publish = RoomCapabilities(rawValue: 1)
    /// To receive streams.
    public static let subscribe = RoomCapabilities(rawValue: 2)
    /// To be subscribed to every stream from the start, without asking for each.
    public static let autoSubscribe = RoomCapabilities(rawValue: 4)

    /// To receive packets that repeat earlier ones (RFC 2198). Granted, it says that such may be sent too: the server
    /// takes the copies out for whoever has not asked for this.
    public static let redundantAudio = RoomCapabilities(rawValue: 8)

    /// What a participant asks for who chooses what it hears, stream by stream.
    public static let byChoice: RoomCapabilities = [.publish, .subscribe, .redundantAudio]

    /// What a participant of a conversation asks for.
    public static let conversation: RoomCapabilities = [.publish, .subscribe, .autoSubscribe, .redundantAudio]
}
