import VoicePlayout

/// What a playout came to. What nothing was measured of is absent.
struct PlayoutSummary: JSONLine {
    let schema = "duplexvoice.playout/1"
    let type = "summary"
    /// The share of the sound that had to be invented.
    var concealedRatio: Double?
    /// From a packet's arrival to its playing.
    var delayMeanMs: Double?
    var delayP95Ms: Double?
    /// The share of packets that came too late to be played.
    var lateRatio: Double?
    /// Lost packets that were restored from the redundancy in the next.
    var fecRecovered: UInt64
    /// CPU for each 20 ms of sound, median.
    var usPerFrameP50: Double?
    /// 20 ms of sound each.
    var frames: UInt64
    var packetsReceived: UInt64
    var packetsLost: Int64
    var packetsMalformed: UInt64
    var packetsDuplicated: UInt64
    var insertedMs: Double
    var removedMs: Double
    /// Speech that is missing from what was heard: it came too late, or too much of it waited.
    var skippedMs: Double
    /// Speech that was heard twice, as pitch periods repeated to slow playout down.
    var repeatedMs: Double
    /// Why not all that the capture was to hold could be played; absent where it was.
    var captureCut: String?

    /// What matters most, for a figure.
    var findings: [String] {
        func decimal(_ value: Double?, _ scale: Double = 1) -> String { value.map { ($0 * scale).fixed(1) } ?? "?" }
        return [
            "time in the buffer \(decimal(delayMeanMs)) ms on average, 95 % within \(decimal(delayP95Ms)) ms; "
                + "\(packetsReceived) packets received, \(packetsLost) lost, \(decimal(lateRatio, 100)) % too late",
            "\(decimal(concealedRatio, 100)) % of the sound invented, \(decimal(skippedMs)) ms of speech dropped, "
                + "\(decimal(insertedMs)) ms longer and \(decimal(removedMs)) ms shorter by stretching",
        ]
    }

    /// The same for people.
    var lines: [String] {
        var table = Table()
        func decimal(_ value: Double?, _ unit: String, _ scale: Double = 1) -> String {
            value.map { "\(($0 * scale).rounded(toPlaces: 2)) \(unit)" } ?? "not known"
        }
        table.add("sound invented", decimal(concealedRatio, "%", 100))
        table.add(
            "packets", "\(packetsReceived) received, \(packetsLost) lost, \(fecRecovered) restored from redundancy")
        table.add("packets too late", decimal(lateRatio, "%", 100))
        let delay = delayMeanMs.map { decimal($0, "ms") + " on average, 95 % within " + decimal(delayP95Ms, "ms") }
        table.add("time in the buffer", delay ?? decimal(nil, "ms"))
        table.add("stretched", decimal(insertedMs, "ms") + " longer, " + decimal(removedMs, "ms") + " shorter")
        table.add("speech", decimal(skippedMs, "ms") + " dropped, " + decimal(repeatedMs, "ms") + " heard twice")
        table.add("CPU for each 20 ms", decimal(usPerFrameP50, "µs"))
        return table.lines
    }
}
