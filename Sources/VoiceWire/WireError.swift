/// Why a datagram could not be read, or a packet could not be written.
///
/// The first group is about bytes that came from the network: drop the datagram and count it; nothing that was parsed
/// before the error is to be used. The second group is about a packet that we are writing: hand over a larger buffer,
/// or a value that the format can carry. No case is ever a reason to stop a call.
package enum WireError: Error, Equatable, Sendable {
    // MARK: Received: drop the datagram, count it.

    /// The datagram ends before this part does.
    case truncated(Part)
    /// The version is not 2, the only one there is (RFC 3550 section 5.1).
    case unsupportedVersion(UInt8)
    /// The padding bit is set, and the last byte names no padding, or more of it than there is room for.
    case invalidPadding
    /// The part contradicts its own format.
    case malformed(Part)
    /// An RTCP packet of this type was read as one of another type.
    case unexpectedPacketType(UInt8)

    // MARK: Written: correct the buffer or the value.

    /// The buffer is too small: it must hold at least this many bytes.
    case insufficientSpace(neededBytes: Int)
    /// The value given for this part does not fit into its field.
    case unrepresentable(Part)

    /// A part of a packet, as its specification calls it.
    package enum Part: Equatable, Sendable {
        /// The twelve bytes that each RTP packet begins with (RFC 3550 section 5.1).
        case fixedHeader
        /// The CSRC list (RFC 3550 section 5.1).
        case contributingSources
        /// The header extension as a whole (RFC 3550 section 5.3.1).
        case headerExtension
        /// One element of a header extension (RFC 8285 section 4).
        case extensionElement
        /// The payload of an RTP packet.
        case payload
        /// The payload type, a number of 7 bits.
        case payloadType
        /// The four bytes that each RTCP packet begins with (RFC 3550 section 6.4.1).
        case controlHeader
        /// The body of an RTCP packet, as long as its length field says.
        case controlBody
        /// The sender information of a sender report (RFC 3550 section 6.4.1).
        case senderInformation
        /// The report blocks of a report (RFC 3550 section 6.4.1).
        case reportBlocks
        /// The blocks of an extended report (RFC 3611 section 3).
        case extendedReport
        /// The chunks of a source description (RFC 3550 section 6.5).
        case sourceDescription
        /// The table-of-contents byte of an Opus packet (RFC 6716 section 3.1).
        case opusTableOfContents
        /// The frames of an Opus packet (RFC 6716 section 3.2).
        case opusFrames
    }
}
