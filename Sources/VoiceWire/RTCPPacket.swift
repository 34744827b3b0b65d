/// The packets of an RTCP datagram, one after the other (RFC 3550 section 6.1).
///
/// Takes both full compound packets, which begin with a report, and reduced-size ones, which may hold a single packet
/// of any type (RFC 5506). A view of the datagram: copies nothing, allocates nothing, and cannot outlive the bytes.
package struct RTCPCompound: ~Escapable {
    private let datagram: Span<UInt8>
    private var offset = 0

    /// The packets in this datagram.
    @_lifetime(copy datagram)
    package init(_ datagram: Span<UInt8>) {
        self.datagram = datagram
    }

    /// Whom all packets of a datagram are from, and all that they say of senders is about.
    ///
    /// A participant reports for itself alone (RFC 3550 section 6.1; only mixers collect what others say). So a
    /// forwarder that knows whose SSRC comes from which address has checked every packet with this one answer, and
    /// nobody can report in another's name.
    ///
    /// - Throws: ``WireError`` when a packet is malformed or from somebody else, or there is none. Drop the datagram.
    package static func sender(of datagram: Span<UInt8>) throws(WireError) -> UInt32 {
        var compound = RTCPCompound(datagram)
        var sender: UInt32?
        while let packet = try compound.next() {
            guard packet.kind != .sourceDescription || packet.count <= 1 else { throw .malformed(.sourceDescription) }
            let named = packet.namedSources
            guard named.count * 4 <= packet.body.count else { throw .truncated(.controlBody) }
            for index in named {
                let source = packet.body.loadUInt32(at: 4 * index)
                guard source == sender ?? source else { throw .malformed(.controlBody) }
                sender = source
            }
        }
        guard let sender else { throw .truncated(.controlHeader) }
        return sender
    }

    /// Whether anything in a datagram says how a stream is received: a report block (RFC 3550 section 6.4), or an extended
    /// report (RFC 3611).
    ///
    /// - Throws: ``WireError`` when a packet before that is malformed.
    package static func tellsOfReception(_ datagram: Span<UInt8>) throws(WireError) -> Bool {
        var compound = RTCPCompound(datagram)
        while let packet = try compound.next() {
            switch packet.kind {
            case .senderReport, .receiverReport: if packet.count > 0 { return true }
            case .extendedReport: return true
            default: break
            }
        }
        return false
    }

    /// The next packet, or nil after the last.
    ///
    /// - Throws: ``WireError`` when the rest of the datagram is no RTCP packet; there is nothing after it.
    @_lifetime(copy self)
    package mutating func next() throws(WireError) -> RTCPPacket? {
        guard offset < datagram.count else { return nil }
        let rest = datagram.extracting(offset..<datagram.count)
        offset = datagram.count
        let packet = try RTCPPacket(parsing: rest)
        offset += packet.byteCount - rest.count
        // Only the last packet of a datagram may be padded (RFC 3550 section 6.4.1).
        guard !packet.isPadded || offset == datagram.count else {
            offset = datagram.count
            throw .invalidPadding
        }
        return packet
    }
}

/// One RTCP packet, whose length and padding were checked, and whose body is read by the type that it states.
package struct RTCPPacket: ~Escapable {
    /// What the packet is. Senders add types; an unknown one is to be skipped (RFC 3550 section 6.1).
    package struct Kind: Equatable, Sendable, BitwiseCopyable {
        /// The number on the wire.
        package let rawValue: UInt8

        /// The kind with this number.
        package init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// A ``SenderReport`` (RFC 3550 section 6.4.1).
        package static let senderReport = Kind(rawValue: 200)
        /// A ``ReceiverReport`` (RFC 3550 section 6.4.2).
        package static let receiverReport = Kind(rawValue: 201)
        /// A source description, read with ``SourceDescriptionItems`` (RFC 3550 section 6.5).
        package static let sourceDescription = Kind(rawValue: 202)
        /// Sources that leave the session (RFC 3550 section 6.6).
        package static let goodbye = Kind(rawValue: 203)
        /// An extended report, of which ``LossPatterns`` are read (RFC 3611).
        package static let extendedReport = Kind(rawValue: 207)
    }

    /// Bytes of the header that all types share.
    static let headerByteCount = 4
    /// The most report blocks, chunks or sources the five-bit count can state.
    static let maximumCount = 31

    /// What the packet is.
    package let kind: Kind
    /// The five bits that count report blocks, chunks or sources, 0 to 31.
    package let count: Int
    /// Bytes of the packet in its datagram, with header and padding.
    package let byteCount: Int
    /// What follows the header, without padding.
    package let body: Span<UInt8>
    let isPadded: Bool

    /// Checks and reads the header of the packet that `datagram` begins with.
    ///
    /// - Throws: ``WireError`` that names what is wrong. Drop the datagram.
    @_lifetime(copy datagram)
    package init(parsing datagram: Span<UInt8>) throws(WireError) {
        guard datagram.count >= Self.headerByteCount else { throw .truncated(.controlHeader) }
        let flags = datagram[0]
        guard flags >> 6 == RTPHeader.version else { throw .unsupportedVersion(flags >> 6) }
        let byteCount = Self.headerByteCount + 4 * Int(datagram.loadUInt16(at: 2))
        guard byteCount <= datagram.count else { throw .truncated(.controlBody) }
        isPadded = flags & 0x20 != 0
        var bodyEnd = byteCount
        if isPadded {
            // Padding counts itself and comes in whole words (RFC 3550 section 6.4.1).
            let padding = Int(datagram[byteCount - 1])
            guard padding > 0, padding & 3 == 0, padding <= byteCount - Self.headerByteCount else {
                throw .invalidPadding
            }
            bodyEnd -= padding
        }
        kind = Kind(rawValue: datagram[1])
        count = Int(flags & 0x1F)
        self.byteCount = byteCount
        body = datagram.extracting(Self.headerByteCount..<bodyEnd)
    }

    /// The words at the beginning of the body that name senders: as many as it counts where they leave or are
    /// described, else one.
    fileprivate var namedSources: Range<Int> {
        kind == .goodbye || kind == .sourceDescription ? 0..<count : 0..<1
    }

    func require(_ kind: Kind) throws(WireError) {
        guard self.kind == kind else { throw .unexpectedPacketType(self.kind.rawValue) }
    }

    /// Writes a header without padding for a packet of `byteCount` bytes; the span was checked to hold it.
    static func writeHeader(
        _ kind: Kind, count: Int, byteCount: Int, into datagram: inout MutableSpan<UInt8>, at offset: Int
    ) {
        datagram[offset] = RTPHeader.version << 6 | UInt8(count)
        datagram[offset + 1] = kind.rawValue
        datagram.store(UInt16(byteCount / 4 - 1), at: offset + 2)
    }
}
