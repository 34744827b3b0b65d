/// Takes fields in network byte order from bytes that a stranger may have written.
struct ByteReader: ~Escapable {
    private let bytes: Span<UInt8>
    private var position = 0

    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>) { self.bytes = bytes }

    var remaining: Int { bytes.count - position }

    mutating func number<Number: FixedWidthInteger & UnsignedInteger>(
        _: Number.Type = Number.self
    ) throws(RoomProtocolError) -> Number {
        let size = Number.bitWidth / 8
        guard remaining >= size else { throw .truncated }
        var value: Number = 0
        for offset in 0..<size {
            // In two steps: a shift by a whole byte is more than a UInt8 holds.
            value = Number(truncatingIfNeeded: UInt64(value) << 8) | Number(bytes[position + offset])
        }
        position += size
        return value
    }

    mutating func flag() throws(RoomProtocolError) -> Bool {
        switch try number(UInt8.self) {
        case 0: false
        case 1: true
        default: throw .invalidValue
        }
    }

    /// A text with its length in one byte.
    mutating func text() throws(RoomProtocolError) -> String {
        let count = Int(try number(UInt8.self))
        guard count <= RoomProtocol.textLimit else { throw .fieldTooLong }
        let encoded = try take(count)
        guard let text = String(validating: encoded, as: UTF8.self) else { throw .invalidText }
        return text
    }

    /// Bytes with their length in two bytes.
    mutating func bytes(limit: Int) throws(RoomProtocolError) -> [UInt8] {
        let count = Int(try number(UInt16.self))
        guard count <= limit else { throw .fieldTooLong }
        return try take(count)
    }

    /// The next bytes as a reader of their own.
    @_lifetime(copy self)
    mutating func sub(_ count: Int) throws(RoomProtocolError) -> ByteReader {
        guard remaining >= count else { throw .truncated }
        let part = bytes.extracting(position..<position + count)
        position += count
        return ByteReader(part)
    }

    private mutating func take(_ count: Int) throws(RoomProtocolError) -> [UInt8] {
        guard remaining >= count else { throw .truncated }
        var field: [UInt8] = []
        field.reserveCapacity(count)
        for offset in position..<position + count { field.append(bytes[offset]) }
        position += count
        return field
    }
}
