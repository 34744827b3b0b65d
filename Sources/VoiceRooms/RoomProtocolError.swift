/// Why a control datagram was dropped.
///
/// The remedy is always the same: drop the datagram, count it, go on. No state has changed beyond what the valid part
/// of an authenticated peer's datagram asked for.
package enum RoomProtocolError: Error, Equatable, Sendable {
    /// The datagram ends inside a field.
    case truncated
    /// The datagram is longer than `RoomProtocol.datagramLimit`.
    case oversized
    /// Bytes follow the last field of a message.
    case trailingBytes
    /// No message has this type.
    case unknownMessage(UInt8)
    /// A text or byte field is longer than its limit.
    case fieldTooLong
    /// A text field is not UTF-8.
    case invalidText
    /// A field holds a value that its definition excludes.
    case invalidValue
    /// The acknowledgement names a message that was never sent.
    case invalidAcknowledgement
    /// A known message that has no place here: the wrong direction or the wrong state.
    case unexpectedMessage(UInt8)
    /// The peer asks for more memory than a limit allows.
    case limitExceeded
}
