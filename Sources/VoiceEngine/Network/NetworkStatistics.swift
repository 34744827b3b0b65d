extension EngineStatistics {
    /// What a listener reports of the stream that this engine sends: W3C `RTCRemoteInboundRtpStreamStats`.
    public struct RemoteInbound: Sendable {
        /// The listener's own synchronization source.
        public var synchronizationSource: UInt32
        /// The share of packets lost since the report before, 0...1.
        public var fractionLost: Double
        /// Packets lost since the first; negative where duplicates outnumber losses.
        public var packetsLost: Int
        /// Variation of the packets' transit times there.
        public var jitter: Duration
        /// To the listener and back by the last report; nil before the first that could tell.
        public var roundTripTime: Duration?
        /// The sum of all round trips measured.
        public var totalRoundTripTime: Duration
        /// How many those were.
        public var roundTripTimeMeasurements: Int
    }

    /// RTCP datagrams.
    public struct Reports: Sendable {
        /// Sent.
        public var sent: Int
        /// Received and understood.
        public var received: Int
        /// Received and dropped, because they contradict themselves.
        public var malformed: Int
    }
}

extension EngineStatistics.RemoteInbound {
    init(_ listener: RemoteInbound) {
        synchronizationSource = listener.synchronizationSource
        fractionLost = listener.fractionLost
        packetsLost = listener.packetsLost
        jitter = .seconds(listener.jitter)
        roundTripTime = listener.roundTripTime.map { .seconds($0) }
        totalRoundTripTime = .seconds(listener.totalRoundTripTime)
        roundTripTimeMeasurements = listener.roundTripTimeMeasurements
    }
}

extension EngineStatistics.Reports {
    init(_ reports: ReportExchange.Statistics) {
        sent = reports.reportsSent
        received = reports.reportsReceived
        malformed = reports.reportsMalformed
    }
}
