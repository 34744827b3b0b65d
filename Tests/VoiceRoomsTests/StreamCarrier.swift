@testable import VoiceRooms

/// A carrier over an ordered stream of bytes, as TCP or a WebSocket is: nothing is lost while it lives, and it may end
/// at any byte.
///
///     type 1  |  length of the body 2  |  body
struct StreamCarrier: RoomCarrier {
    /// Bytes that wait to be written.
    static let limit = 4096

    private var outgoing: [UInt8] = []
    private var incoming: [UInt8] = []

    var hasRoom: Bool { outgoing.count < Self.limit }

    mutating func send(_ message: RoomMessage) {
        var body = ByteWriter()
        message.writeBody(into: &body)
        outgoing += [message.type.rawValue, UInt8(body.bytes.count >> 8), UInt8(body.bytes.count & 0xFF)] + body.bytes
    }

    private var nextLength: Int? {
        guard incoming.count >= 3 else { return nil }
        let length = 3 + Int(incoming[1]) << 8 + Int(incoming[2])
        return incoming.count >= length ? length : nil
    }

    var hasNext: Bool { nextLength != nil }

    mutating func next() -> RoomMessage? {
        guard let length = nextLength, let type = MessageType(rawValue: incoming[0]) else { return nil }
        let body = Array(incoming[3..<length])
        incoming.removeFirst(length)
        var reader = ByteReader(body.span)
        return try? RoomMessage(type: type, body: &reader)
    }

    /// A stream tells what was written, and not what was read.
    var isDelivered: Bool { false }
    mutating func measure(_ roundTrip: Duration) {}

    // MARK: The stream

    /// The next bytes to write, so many at most.
    mutating func write(upTo count: Int) -> [UInt8] {
        let bytes = Array(outgoing.prefix(count))
        outgoing.removeFirst(bytes.count)
        return bytes
    }

    mutating func read(_ bytes: [UInt8]) { incoming += bytes }
}
