// Numbers in network byte order. A wrong offset is our own bug: every caller compares with the count first.

extension Span where Element == UInt8 {
    func number16(at offset: Int) -> UInt16 { UInt16(self[offset]) << 8 | UInt16(self[offset + 1]) }

    func number32(at offset: Int) -> UInt32 { UInt32(number16(at: offset)) << 16 | UInt32(number16(at: offset + 2)) }

    func number64(at offset: Int) -> UInt64 { UInt64(number32(at: offset)) << 32 | UInt64(number32(at: offset + 4)) }
}

extension MutableSpan where Element == UInt8 {
    mutating func store(_ value: some FixedWidthInteger & UnsignedInteger, at offset: Int) {
        let last = value.bitWidth / 8 - 1
        for index in 0...last { self[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * (last - index))) }
    }

    mutating func store(_ source: Span<UInt8>, at offset: Int) {
        for index in source.indices { self[offset + index] = source[index] }
    }
}
