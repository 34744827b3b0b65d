/// Writes an RTP packet of any shape into a buffer, part by part in the order of the wire (RFC 3550 section 5.1).
///
/// A voice packet needs only ``RTPHeader/write(into:audioLevel:audioLevelID:)``; this writes CSRC lists, extension
/// elements of either form, payload and padding. It is a cursor: every call gets the same buffer, and fails without
/// effect when the part does not fit or comes too late. Lock-free and without allocation.
///
/// Begin, then sources, then elements, then the payload, then ``pad(to:in:)``; each may be left out but the first.
package struct RTPWriter: Sendable {
    private enum Stage: Int {
        case contributingSources
        case headerExtension
        case payload
        case padding
    }

    /// Bytes of the packet so far.
    package private(set) var byteCount: Int
    private var stage = Stage.contributingSources
    private var form = HeaderExtensions.Form.none
    private var extensionOffset = 0
    private var elementsEnd = 0

    /// The most sources the four-bit count can state (RFC 3550 section 5.1).
    private static let maximumContributingSources: UInt8 = 15

    /// Writes the fixed header and begins a packet.
    package init(_ header: RTPHeader, into datagram: inout MutableSpan<UInt8>) throws(WireError) {
        try datagram.requireSpace(RTPHeader.byteCount)
        try header.writeFixed(into: &datagram)
        byteCount = RTPHeader.byteCount
    }

    /// Adds a contributing source; at most 15, before all else.
    package mutating func append(
        contributingSource: UInt32, to datagram: inout MutableSpan<UInt8>
    ) throws(WireError) {
        guard stage == .contributingSources, datagram[0] & 0x0F < Self.maximumContributingSources else {
            throw .unrepresentable(.contributingSources)
        }
        try datagram.requireSpace(byteCount + 4)
        datagram.store(contributingSource, at: byteCount)
        datagram[0] += 1
        byteCount += 4
    }

    /// Adds an extension element (RFC 8285); the first decides the form, and all must have the same.
    ///
    /// - Throws: ``WireError/unrepresentable(_:)`` when the id or the length does not exist in this form (one-byte: ids
    ///   1 to 14, 1 to 16 bytes; two-byte: ids 1 to 255, up to 255 bytes), when the form changes, or after the payload.
    package mutating func append(
        extensionID id: UInt8, data: Span<UInt8>, form: HeaderExtensions.Form = .oneByte,
        to datagram: inout MutableSpan<UInt8>
    ) throws(WireError) {
        let isFirst = stage == .contributingSources
        guard isFirst || (stage == .headerExtension && form == self.form), Self.canRepresent(id, data.count, form)
        else {
            throw .unrepresentable(.extensionElement)
        }
        let start = isFirst ? byteCount + 4 : elementsEnd
        let dataOffset = start + (form == .oneByte ? 1 : 2)
        let end = dataOffset + data.count
        let paddedEnd = end + (-end & 3)
        let offset = isFirst ? byteCount : extensionOffset
        guard (paddedEnd - offset) / 4 - 1 <= Int(UInt16.max) else { throw .unrepresentable(.headerExtension) }
        try datagram.requireSpace(paddedEnd)

        if isFirst {
            (stage, self.form, extensionOffset) = (.headerExtension, form, offset)
            datagram[0] |= 0x10
            let profile = form == .oneByte ? HeaderExtensions.oneByteProfile : HeaderExtensions.twoByteProfile
            datagram.store(profile, at: offset)
        }
        if form == .oneByte {
            datagram[start] = id << 4 | UInt8(data.count - 1)
        } else {
            datagram[start] = id
            datagram[start + 1] = UInt8(data.count)
        }
        datagram.store(data, at: dataOffset)
        datagram.zero(end..<paddedEnd)
        // The length counts 32-bit words, without the first (RFC 3550 section 5.3.1).
        datagram.store(UInt16((paddedEnd - offset) / 4 - 1), at: offset + 2)
        elementsEnd = end
        byteCount = paddedEnd
    }

    /// Adds payload bytes; may be called again to add more.
    package mutating func append(payload: Span<UInt8>, to datagram: inout MutableSpan<UInt8>) throws(WireError) {
        guard stage != .padding else { throw .unrepresentable(.payload) }
        try datagram.requireSpace(byteCount + payload.count)
        datagram.store(payload, at: byteCount)
        stage = .payload
        byteCount += payload.count
    }

    /// Pads the packet to a length of `byteCount`, once, as the last part; does nothing when it already has that
    /// length.
    ///
    /// - Throws: ``WireError/invalidPadding`` when the packet is longer, was padded before, or would need more than the
    ///   255 bytes that the padding can state.
    package mutating func pad(to byteCount: Int, in datagram: inout MutableSpan<UInt8>) throws(WireError) {
        let padding = byteCount - self.byteCount
        guard stage != .padding, 0...255 ~= padding else { throw .invalidPadding }
        try datagram.requireSpace(byteCount)
        stage = .padding
        guard padding > 0 else { return }
        datagram[0] |= 0x20
        datagram.zero(self.byteCount..<byteCount)
        datagram[byteCount - 1] = UInt8(padding)
        self.byteCount = byteCount
    }

    private static func canRepresent(_ id: UInt8, _ length: Int, _ form: HeaderExtensions.Form) -> Bool {
        switch form {
        case .none: false
        case .oneByte: 1...14 ~= id && 1...16 ~= length
        case .twoByte: id > 0 && length <= 255
        }
    }
}
