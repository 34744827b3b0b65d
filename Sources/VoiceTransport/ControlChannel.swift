internal import VoicePeers
internal import VoiceRooms

/// Carries whole control datagrams between a room's state machine and a socket: the one place where protection goes.
///
/// A DTLS channel will sit here. It will keep a context for each address, answer handshakes by datagrams of its own and
/// have timers; the state machines above will not notice, since they see the same control datagrams.
protocol ControlChannel {
    /// Whether a datagram with this first byte is the channel's; media goes another way. Allocates nothing.
    func carries(firstByte: UInt8) -> Bool
    /// The control datagram inside what arrived, nil when it is not genuine.
    mutating func unprotect(_ datagram: [UInt8], from source: EndpointAddress) -> [UInt8]?
    /// What to send for a control datagram, nil when nothing can be sent there yet.
    mutating func protect(_ control: [UInt8], to destination: EndpointAddress) -> [UInt8]?
}

/// Control datagrams as they are. For loopback, and for networks that are yours: `allowPlaintext`.
struct PlaintextChannel: ControlChannel {
    func carries(firstByte: UInt8) -> Bool { firstByte == RoomProtocol.firstByte }
    mutating func unprotect(_ datagram: [UInt8], from source: EndpointAddress) -> [UInt8]? { datagram }
    mutating func protect(_ control: [UInt8], to destination: EndpointAddress) -> [UInt8]? { control }
}
