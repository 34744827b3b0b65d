/// One control datagram: an acknowledgement and the frames of as many messages as fit.
///
///     0                4
///     | acknowledged   | frame | frame ...
///     frame:   | type 1  | body length 2  | sequence 4      | body
///
/// All numbers are in network byte order. `acknowledged` is the sequence number that the sender awaits next: everything
/// before it has arrived. Sequence numbers count from 1 in each direction of a peer's path; unsequenced messages carry
/// 0.
package struct ControlDatagram: Equatable, Sendable {
    /// A message and its place in the sequence.
    package struct Frame: Equatable, Sendable {
        /// Its place; 0 for the messages that are not sequenced.
        package var sequence: UInt32
        /// The message.
        package var message: RoomMessage

        /// Puts a message in its place.
        package init(sequence: UInt32, message: RoomMessage) {
            self.sequence = sequence
            self.message = message
        }
    }

    /// The next sequence number that the sender awaits.
    package var acknowledged: UInt32
    /// The messages.
    package var frames: [Frame]

    /// Describes a datagram.
    package init(acknowledged: UInt32, frames: [Frame]) {
        self.acknowledged = acknowledged
        self.frames = frames
    }

    /// Reads a datagram, which a stranger may have written. Allocates no more than a few times its size.
    package init(decoding bytes: Span<UInt8>) throws(RoomProtocolError) {
        guard bytes.count <= RoomProtocol.datagramLimit else { throw .oversized }
        var reader = ByteReader(bytes)
        self.init(acknowledged: try reader.number(), frames: [])
        while reader.remaining > 0 {
            guard frames.count < RoomProtocol.frameLimit else { throw .limitExceeded }
            frames.append(try Frame(from: &reader))
        }
    }

    /// The datagram's bytes. `datagramLimit` is the caller's to keep; `DatagramCarrier` does.
    package func encoded() -> [UInt8] {
        var writer = ByteWriter()
        writer.write(acknowledged)
        for frame in frames { writer.append(frame.encoded()) }
        return writer.bytes
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
