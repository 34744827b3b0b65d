import VoicePlayout

/// What a playout came to.
struct PlayoutSummary {
    let statistics: PlayoutStatistics
    let concealedRatio: Double
    let delayMeanMilliseconds: Double
    let delay95Milliseconds: Double
    let lateRatio: Double
    let recoveredPackets: UInt64
    let microsecondsPerFrame: Double
    let frames: UInt64

    /// One line of JSON.
    var json: String {
        let fields: [(String, String)] = [
            ("schema", "1"),
            ("type", "\"playout\""),
            ("concealed_ratio", Self.decimal(concealedRatio, places: 5)),
            ("delay_mean_ms", Self.decimal(delayMeanMilliseconds, places: 2)),
            ("delay_p95_ms", Self.decimal(delay95Milliseconds, places: 2)),
            ("late_ratio", Self.decimal(lateRatio, places: 5)),
            ("fec_recovered", "\(recoveredPackets)"),
            ("us_per_frame_p50", Self.decimal(microsecondsPerFrame, places: 1)),
            ("frames", "\(frames)"),
            ("packets_received", "\(statistics.packetsReceived)"),
            ("packets_lost", "\(statistics.packetsLost)"),
            ("packets_malformed", "\(statistics.packetsMalformed)"),
            ("packets_duplicated", "\(statistics.packetsDuplicated)"),
            ("inserted_ms", Self.decimal(Double(statistics.insertedSamplesForDeceleration) / 48, places: 1)),
            ("removed_ms", Self.decimal(Double(statistics.removedSamplesForAcceleration) / 48, places: 1)),
            ("skipped_ms", Self.decimal(Double(statistics.skippedSamples) / 48, places: 1)),
        ]
        return "{" + fields.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}"
    }

    /// The same for people.
    var text: String {
        """
        \(frames) frames of 20 ms, \(statistics.packetsReceived) packets, \(statistics.packetsLost) lost
        concealed \(Self.decimal(100 * concealedRatio, places: 2)) %, late \(Self.decimal(100 * lateRatio, places: 2)) %, \
        restored from redundancy \(recoveredPackets)
        time in the buffer: mean \(Self.decimal(delayMeanMilliseconds, places: 1)) ms, \
        95 % within \(Self.decimal(delay95Milliseconds, places: 1)) ms
        \(Self.decimal(microsecondsPerFrame, places: 0)) µs of CPU per frame
        """
    }

    /// A number with a fixed count of decimal places, whatever the locale.
    private static func decimal(_ value: Double, places: Int) -> String {
        let scale = (0..<places).reduce(1.0) { scale, _ in scale * 10 }
        let digits = String(Int((abs(value) * scale).rounded()))
        let padded = String(repeating: "0", count: max(0, places + 1 - digits.count)) + digits
        let sign = value < 0 && digits.contains { $0 != "0" } ? "-" : ""
        return places == 0 ? sign + padded : sign + padded.dropLast(places) + "." + padded.suffix(places)
    }
}
