/// The notice that an address is no peer's here: how a client learns early that its server was started anew. Whoever
/// can forge the server's address can send it, so it proves nothing and only makes the client ask.
///
///     | 13 | 5 |
enum UnknownPeer {
    static func isNotice(_ datagram: Span<UInt8>) -> Bool {
        datagram.count == 2 && datagram[0] == 13 && datagram[1] == 5
    }

    /// Writes the notice over what it answers; nil where that was not longer, so that two servers cannot answer each
    /// other forever.
    static func write(into datagram: inout MutableSpan<UInt8>) -> Int? {
        guard datagram.count > 2 else { return nil }
        datagram[0] = 13
        datagram[1] = 5
        return 2
    }
}
