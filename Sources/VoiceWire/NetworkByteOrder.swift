// Loads and stores in network byte order. Offsets are checked by the span: a wrong one is our own bug, since every
// caller compares with the count first and throws.

extension Span where Element == UInt8 {
    func loadUInt16(at offset: Int) -> UInt16 {
        UInt16(bigEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self))
    }

    func loadUInt32(at offset: Int) -> UInt32 {
        UInt32(bigEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
}

extension MutableSpan where Element == UInt8 {
    mutating func store(_ value: UInt16, at offset: Int) {
        self[offset] = UInt8(truncatingIfNeeded: value >> 8)
        self[offset + 1] = UInt8(truncatingIfNeeded: value)
    }

    mutating func store(_ value: UInt32, at offset: Int) {
        store(UInt16(truncatingIfNeeded: value >> 16), at: offset)
        store(UInt16(truncatingIfNeeded: value), at: offset + 2)
    }

    mutating func store(_ source: Span<UInt8>, at offset: Int) {
        precondition(offset >= 0 && source.count <= count - offset)
        unsafe source.withUnsafeBytes { source in
            unsafe withUnsafeMutableBytes { target in
                unsafe UnsafeMutableRawBufferPointer(rebasing: target[offset...]).copyMemory(from: source)
            }
        }
    }

    mutating func zero(_ range: Range<Int>) {
        for offset in range { self[offset] = 0 }
    }

    func requireSpace(_ neededBytes: Int) throws(WireError) {
        guard count >= neededBytes else { throw .insufficientSpace(neededBytes: neededBytes) }
    }
}
