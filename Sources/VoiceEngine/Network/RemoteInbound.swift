internal import VoiceWire

/// What one listener last said of the stream that this engine sends.
struct RemoteInbound: ReportingListener {
    var synchronizationSource: UInt32 = 0
    var heard: Duration = .zero
    /// When the sender was last adapted to what it says.
    var weighed: Duration?
    /// 0...1, since the report before.
    var fractionLost = 0.0
    var packetsLost = 0
    /// Seconds.
    var jitter = 0.0
    /// Seconds; nil before the first.
    var roundTripTime: Double?
    var totalRoundTripTime = 0.0
    var roundTripTimeMeasurements = 0
    /// The highest sequence number that it has received, wraps included.
    var highest: UInt32?

    /// A round trip beyond this is a mistake, or a lie: 30 s.
    private static let longestRoundTrip = 30.0

    /// Takes a report block; returns its round trip in seconds, and how many packets it is about.
    mutating func note(_ block: ReportBlock, arrival: Duration) -> (roundTrip: Double?, packets: Int) {
        heard = arrival
        fractionLost = Double(block.fractionLost) / 256
        packetsLost = Int(block.cumulativeLost)
        jitter = Double(block.interarrivalJitter) / 48_000
        let packets = highest.map { Int(Int32(bitPattern: block.extendedHighestSequenceNumber &- $0)) } ?? 0
        highest = block.extendedHighestSequenceNumber
        let measured = block.roundTripTime(arrival: NetworkTime(sinceUnixEpoch: arrival)).map { $0 / .seconds(1) }
        guard let measured, measured < Self.longestRoundTrip else { return (nil, max(0, packets)) }
        roundTripTime = measured
        totalRoundTripTime += measured
        roundTripTimeMeasurements += 1
        return (measured, max(0, packets))
    }
}
