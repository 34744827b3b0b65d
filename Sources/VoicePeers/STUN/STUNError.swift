/// Why a STUN message could not be read, or not be written.
package enum STUNError: Error, Equatable, Sendable {
    // MARK: Received: drop the datagram, count it.

    /// It ends before its header, or before an attribute does.
    case truncated
    /// No STUN of RFC 5389 or later: the first two bits or the magic cookie are others.
    case otherProtocol
    /// The header's length is not that of the datagram, or no multiple of 4.
    case lengthMismatch
    /// More than ``STUNMessage/maximumSize`` bytes or ``STUNMessage/maximumAttributes`` attributes.
    case tooLong
    /// Its size or its place is wrong.
    case malformed(STUNAttribute)
    /// The checksum is not that of the message.
    case wrongFingerprint

    // MARK: Written: correct the buffer or the value.

    /// The buffer is too small: it must hold at least this many bytes.
    case insufficientSpace(neededBytes: Int)
    /// It cannot stand there, or its value is too long.
    case unrepresentable(STUNAttribute)
    /// The HMAC could not be computed.
    case integrityUnavailable
}
