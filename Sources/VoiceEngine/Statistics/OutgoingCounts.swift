public import VoiceCoding

/// What is counted of a stream that an app feeds, and what its listeners say.
struct OutgoingCounts: BitwiseCopyable, Sendable {
    /// Whose these are: ``OutgoingStream/id``.
    var line: UInt64 = 0
    var source: UInt32?
    var sender = SenderStatistics()
    var listeners = ListenerTable<RemoteInbound>()
}

/// The counts of all.
typealias OutgoingCountsTable = FixedTable<3, OutgoingCounts>

extension EngineStatistics {
    /// A stream that the app feeds: ``VoiceEngine/publish(stream:_:)``. How much waits of it, and how often it ran dry,
    /// is in ``EngineStatistics/farEnds``.
    public struct Outgoing: Sendable {
        /// Which it is: ``OutgoingStream/id``.
        public var id: FarEndID
        /// What it is sent as; nil while no room has it.
        public var synchronizationSource: UInt32?
        /// RTP packets handed to the network.
        public var packetsSent: Int
        /// Their bytes, RTP headers included.
        public var bytesSent: Int
        /// Packets lost here because the send ring was full or the codec failed.
        public var packetsDropped: Int
        /// How the next packet will be encoded: the configuration, as changed by what listeners report.
        public var encoder: OpusEncoderSettings?
        /// How many earlier packets each repeats now (RFC 2198).
        public var copies: Int
        /// Bytes sent so far of packets repeated, with their headers; part of ``bytesSent``.
        public var copyBytesSent: Int
        /// What listeners report of it, by their own synchronization sources.
        public var remoteInbound: [RemoteInbound]

        init(_ counts: OutgoingCounts) {
            id = FarEndID(rawValue: counts.line)
            synchronizationSource = counts.source
            packetsSent = counts.sender.packetsSent
            bytesSent = counts.sender.bytesSent
            packetsDropped = counts.sender.packetsDropped
            encoder = counts.sender.plan?.settings
            copies = counts.sender.plan?.copies ?? 0
            copyBytesSent = counts.sender.copyBytesSent
            remoteInbound = (0..<counts.listeners.count).map { RemoteInbound(counts.listeners[$0]) }
        }
    }
}
