/// The blocks of an RTP payload with redundant audio (RFC 2198), read where they lie.
///
/// The primary block is what a packet would carry without redundancy; each redundant one is the copy of an earlier packet's
/// payload. A view of the payload: copies nothing, allocates nothing, takes no lock, and cannot outlive the bytes. All lengths
/// are checked once, when it is made; its accessors cannot fail.
public struct RedundantAudio: ~Escapable {
    /// How many redundant blocks there are; the oldest usually comes first.
    public let redundantBlockCount: Int
    private let payload: Span<UInt8>
    /// Where the blocks' data begin, and where the primary one does.
    private let dataOffset: Int
    private let primaryOffset: Int

    /// A redundant block's header: follow-up bit, payload type, 14 bits of timestamp offset, 10 bits of length (section 3).
    private static let headerBytes = 4
    private static let followUp: UInt8 = 0x80

    /// Checks and reads a payload.
    ///
    /// - Throws: ``WireError/truncated(_:)`` of the payload when headers or blocks reach beyond it. Drop the packet.
    @_lifetime(copy payload)
    public init(parsing payload: Span<UInt8>) throws(WireError) {
        var (offset, dataBytes, blocks) = (0, 0, 0)
        while offset < payload.count, payload[offset] & Self.followUp != 0 {
            guard offset + Self.headerBytes < payload.count else { throw .truncated(.payload) }
            dataBytes += Self.length(in: payload, at: offset)
            offset += Self.headerBytes
            blocks += 1
        }
        guard offset < payload.count else { throw .truncated(.payload) }
        dataOffset = offset + 1
        primaryOffset = dataOffset + dataBytes
        guard primaryOffset <= payload.count else { throw .truncated(.payload) }
        redundantBlockCount = blocks
        self.payload = payload
    }

    /// The payload type of the primary block.
    public var primaryPayloadType: UInt8 { payload[dataOffset - 1] & ~Self.followUp }

    /// The primary block, which the packet's timestamp belongs to; may be empty.
    public var primary: Span<UInt8> {
        @_lifetime(copy self) get { payload.extracting(primaryOffset..<payload.count) }
    }

    /// The payload type of a redundant block; `index` is below ``redundantBlockCount``.
    public func payloadType(at index: Int) -> UInt8 { payload[header(index)] & ~Self.followUp }

    /// How much earlier than the packet's timestamp a redundant block begins, in units of the timestamp: 0...16383.
    public func timestampOffset(at index: Int) -> Int {
        Int(payload[header(index) + 1]) << 6 | Int(payload[header(index) + 2]) >> 2
    }

    /// A redundant block; `index` is below ``redundantBlockCount``. Empty where the sender had nothing to repeat.
    @_lifetime(copy self)
    public func block(at index: Int) -> Span<UInt8> {
        var start = dataOffset
        for earlier in 0..<index { start += Self.length(in: payload, at: header(earlier)) }
        return payload.extracting(start..<start + Self.length(in: payload, at: header(index)))
    }

    private func header(_ index: Int) -> Int {
        precondition(index >= 0 && index < redundantBlockCount)
        return index * Self.headerBytes
    }

    private static func length(in payload: Span<UInt8>, at header: Int) -> Int {
        Int(payload[header + 2] & 0x03) << 8 | Int(payload[header + 3])
    }
}
