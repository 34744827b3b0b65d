/// The elements of an RTP header extension, read one after the other (RFC 8285).
///
/// A view of the datagram: copies nothing, allocates nothing, and cannot outlive the bytes. Padding is skipped. A
/// header extension of a profile that is neither of the two of RFC 8285 has no elements.
package struct HeaderExtensions: ~Escapable {
    /// How the elements are laid out.
    package enum Form: Equatable, Sendable {
        /// No header extension, or one that RFC 8285 does not describe.
        case none
        /// Ids 1 to 14, 1 to 16 bytes of data each (RFC 8285 section 4.2).
        case oneByte
        /// Ids 1 to 255, 0 to 255 bytes of data each (RFC 8285 section 4.3).
        case twoByte
    }

    /// One element: an id that the session's signalling gave a meaning, and its data.
    package struct Element: ~Escapable {
        /// The id, 1 to 14 in the one-byte form, 1 to 255 in the two-byte form.
        package let id: UInt8
        /// The data, 1 to 16 bytes in the one-byte form, 0 to 255 in the two-byte form.
        package let data: Span<UInt8>

        @_lifetime(copy data)
        init(id: UInt8, data: Span<UInt8>) {
            self.id = id
            self.data = data
        }
    }

    /// The profile that announces the one-byte form (RFC 8285 section 4.2).
    static let oneByteProfile: UInt16 = 0xBEDE
    /// The profile that announces the two-byte form; its low four bits are the application's (RFC 8285 section 4.3).
    static let twoByteProfile: UInt16 = 0x1000
    static let twoByteProfileMask: UInt16 = 0xFFF0
    /// The id of the one-byte form that ends the elements (RFC 8285 section 4.2).
    static let oneByteStopID: UInt8 = 15

    /// The 16 bits "defined by profile", 0 without a header extension (RFC 3550 section 5.3.1).
    package let profile: UInt16
    private let data: Span<UInt8>
    private var offset = 0

    /// The elements in `data`, which is the header extension without its first four bytes.
    @_lifetime(copy data)
    package init(profile: UInt16, data: Span<UInt8>) {
        self.profile = profile
        self.data = data
    }

    /// How the elements are laid out.
    package var form: Form {
        if profile == Self.oneByteProfile { return .oneByte }
        return profile & Self.twoByteProfileMask == Self.twoByteProfile ? .twoByte : .none
    }

    /// The next element, or nil after the last.
    ///
    /// - Throws: ``WireError/truncated(_:)`` of the element whose data would reach beyond the header extension. The
    ///   elements before it are good; there are none after it.
    @_lifetime(copy self)
    package mutating func next() throws(WireError) -> Element? {
        switch form {
        case .none: return nil
        case .oneByte: return try nextOneByte()
        case .twoByte: return try nextTwoByte()
        }
    }

    @_lifetime(copy self)
    private mutating func nextOneByte() throws(WireError) -> Element? {
        skipPadding()
        guard offset < data.count else { return nil }
        let id = data[offset] >> 4
        // An id of 0 with a length, or of 15, ends the elements, and what was read before stays good (section 4.2).
        guard id != 0, id != Self.oneByteStopID else { return stop() }
        let length = Int(data[offset] & 0x0F) + 1
        return try element(id: id, dataOffset: offset + 1, length: length)
    }

    @_lifetime(copy self)
    private mutating func nextTwoByte() throws(WireError) -> Element? {
        skipPadding()
        guard offset < data.count else { return nil }
        guard offset + 1 < data.count else { throw truncated() }
        return try element(id: data[offset], dataOffset: offset + 2, length: Int(data[offset + 1]))
    }

    @_lifetime(copy self)
    private mutating func element(id: UInt8, dataOffset: Int, length: Int) throws(WireError) -> Element {
        guard length <= data.count - dataOffset else { throw truncated() }
        offset = dataOffset + length
        return Element(id: id, data: data.extracting(dataOffset..<dataOffset + length))
    }

    /// A zero byte is padding in both forms, and may stand before, between and after elements.
    private mutating func skipPadding() {
        while offset < data.count, data[offset] == 0 { offset += 1 }
    }

    @_lifetime(copy self)
    private mutating func stop() -> Element? {
        offset = data.count
        return nil
    }

    private mutating func truncated() -> WireError {
        offset = data.count
        return .truncated(.extensionElement)
    }
}

extension HeaderExtensions {
    /// The data of the first element with this id, or nil when there is none before the end or the first malformed one.
    @_lifetime(copy self)
    package func data(of id: UInt8) -> Span<UInt8>? {
        var elements = self
        while let element = try? elements.next() {
            if element.id == id { return element.data }
        }
        return nil
    }

    /// The audio level that the session signalled under this id (RFC 6464), or nil when the packet carries none.
    package func audioLevel(id: UInt8) -> AudioLevel? {
        guard let data = data(of: id), data.count == 1 else { return nil }
        return AudioLevel(byte: data[0])
    }
}
