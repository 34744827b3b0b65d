/// One control datagram: a header and the frames of as many messages as fit.
///
///     0        1         2                10                14
///     | 13     | framing | association    | acknowledged    | frame | frame ...
///     frame:   | type 1  | body length 2  | sequence 4      | body
///
/// All numbers are in network byte order. `acknowledged` is the sequence number that the sender awaits next: everything
/// before it has arrived. Sequence numbers count from 1 in each direction of each association; unsequenced messages
/// carry 0.
public struct ControlDatagram: Equatable, Sendable {
    /// A message and its place in the sequence.
    public struct Frame: Equatable, Sendable {
        /// Its place; 0 for the messages that are not sequenced.
        public var sequence: UInt32
        /// The message.
        public var message: RoomMessage

        /// Puts a message in its place.
        public init(sequence: UInt32, message: RoomMessage) {
            self.sequence = sequence
            self.message = message
        }
    }

    /// What the client drew for this stretch of the conversation.
    public var association: UInt64
    /// The next sequence number that the sender awaits.
    public var acknowledged: UInt32
    /// The messages.
    public var frames: [Frame]

    /// Describes a datagram.
    public init(association: UInt64, acknowledged: UInt32, frames: [Frame]) {
        self.association = association
        self.acknowledged = acknowledged
        self.frames = frames
    }

    /// Reads a datagram, which a stranger may have written. Allocates no more than a few times its size.
    public init(decoding bytes: Span<UInt8>) throws(RoomProtocolError) {
        guard bytes.count <= RoomProtocol.datagramLimit else { throw .oversized }
        var reader = ByteReader(bytes)
        guard try reader.number(UInt8.self) == RoomProtocol.firstByte else { throw .notControl }
        let version = try reader.number(UInt8.self)
        guard version == RoomProtocol.framingVersion else { throw .unsupportedVersion(version) }
        self.init(association: try reader.number(), acknowledged: try reader.number(), frames: [])
        while reader.remaining > 0 {
            guard frames.count < RoomProtocol.frameLimit else { throw .limitExceeded }
            frames.append(try Frame(from: &reader))
        }
    }

    /// The datagram's bytes. `datagramLimit` is the caller's to keep; `ReliableChannel` does.
    public func encoded() -> [UInt8] {
        var writer = ByteWriter()
        Self.writeHeader(association: association, acknowledged: acknowledged, into: &writer)
        for frame in frames { writer.append(frame.encoded()) }
        return writer.bytes
    }

    static func writeHeader(association: UInt64, acknowledged: UInt32, into writer: inout ByteWriter) {
        writer.write(RoomProtocol.firstByte)
        writer.write(RoomProtocol.framingVersion)
        writer.write(association)
        writer.write(acknowledged)
    }

    /// The association of a datagram whose framing version we may not know: the part that never changes.
    static func association(of bytes: Span<UInt8>) throws(RoomProtocolError) -> UInt64 {
        var reader = ByteReader(bytes)
        _ = try reader.number(UInt16.self)
        return try reader.number()
    }
}

extension ControlDatagram.Frame {
    init(from reader: inout ByteReader) throws(RoomProtocolError) {
        let code = try reader.number(UInt8.self)
        let count = Int(try reader.number(UInt16.self))
        let sequence: UInt32 = try reader.number()
        guard let type = MessageType(rawValue: code) else { throw .unknownMessage(code) }
        guard type.isSequenced == (sequence != 0) else { throw .invalidValue }
        var body = try reader.sub(count)
        self.init(sequence: sequence, message: try RoomMessage(type: type, body: &body))
    }

    func encoded() -> [UInt8] {
        var body = ByteWriter()
        message.writeBody(into: &body)
        var writer = ByteWriter()
        writer.write(message.type.rawValue)
        writer.write(UInt16(body.bytes.count))
        writer.write(sequence)
        writer.append(body.bytes)
        return writer.bytes
    }
}
