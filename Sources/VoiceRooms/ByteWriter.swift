/// Appends fields in network byte order.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    mutating func write<Number: FixedWidthInteger & UnsignedInteger>(_ value: Number) {
        var shift = Number.bitWidth
        while shift > 0 {
            shift -= 8
            bytes.append(UInt8(truncatingIfNeeded: value >> Number(shift)))
        }
    }

    mutating func write(flag: Bool) { bytes.append(flag ? 1 : 0) }

    /// A text with its length in one byte.
    mutating func write(text: String) {
        let encoded = Array(text.utf8)
        precondition(encoded.count <= RoomProtocol.textLimit, "the caller checks the lengths of texts")
        bytes.append(UInt8(encoded.count))
        bytes += encoded
    }

    /// Bytes with their length in two bytes.
    mutating func write(bytes field: [UInt8], limit: Int) {
        precondition(field.count <= limit, "the caller checks the lengths of fields")
        write(UInt16(field.count))
        bytes += field
    }

    mutating func append(_ frame: [UInt8]) { bytes += frame }
}
