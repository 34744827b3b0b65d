/// What a number of measurements of the same way came to.
struct LatencyDistribution: Equatable {
    /// In milliseconds, in ascending order.
    private let sorted: [Double]

    /// Nil of nothing: what was not measured has no latency.
    init?(milliseconds: [Double]) {
        guard !milliseconds.isEmpty else { return nil }
        sorted = milliseconds.sorted()
    }

    var count: Int { sorted.count }
    var minimum: Double { sorted[0] }
    var median: Double { percentile(50) }
    var maximum: Double { sorted[sorted.count - 1] }

    /// The least value that `percent` of all values do not exceed (nearest rank), so that it is one that was measured.
    func percentile(_ percent: Double) -> Double {
        let rank = (percent / 100 * Double(sorted.count)).rounded(.up)
        return sorted[min(max(Int(rank) - 1, 0), sorted.count - 1)]
    }

    /// The narrowest interval of a histogram, in milliseconds: half a frame at 48 kHz.
    private static let narrowest = 0.01

    /// How many values fall into each of at most `bins` intervals of the same width from the least to the greatest.
    func histogram(bins most: Int) -> [(range: ClosedRange<Double>, count: Int)] {
        let bins = min(max(Int((maximum - minimum) / Self.narrowest), 1), most)
        guard bins > 1 else { return [(minimum...maximum, count)] }
        let width = (maximum - minimum) / Double(bins)
        var counts = [Int](repeating: 0, count: bins)
        for value in sorted { counts[min(Int((value - minimum) / width), bins - 1)] += 1 }
        return counts.enumerated().map { bin, count in
            (minimum + Double(bin) * width...minimum + Double(bin + 1) * width, count)
        }
    }

    /// The histogram in characters, a line for each interval.
    func lines(bins: Int = 8, width: Int = 40) -> [String] {
        let histogram = histogram(bins: bins)
        let most = histogram.map(\.count).max() ?? 1
        var table = Table()
        for bin in histogram {
            let bar = String(repeating: "#", count: (bin.count * width + most - 1) / most)
            let from = bin.range.lowerBound.fixed(2)
            table.add(
                histogram.count == 1 ? "\(from) ms" : "\(from) - \(bin.range.upperBound.fixed(2)) ms",
                bin.count == 0 ? "" : "\(bar) \(bin.count)")
        }
        return table.lines
    }
}

extension Double {
    /// This number with so many digits behind the point; as it comes where it has, or is asked for, more than 15.
    func fixed(_ digits: Int) -> String {
        var scale = 1.0
        for _ in 0..<digits { scale *= 10 }
        guard isFinite, scale <= 1e15, (magnitude * scale) < 1e15 else { return "\(self)" }
        let scaled = Int64((magnitude * scale).rounded())
        let sign = self < 0 && scaled > 0 ? "-" : ""
        guard digits > 0 else { return "\(sign)\(scaled)" }
        let rest = String(scaled % Int64(scale))
        return "\(sign)\(scaled / Int64(scale)).\(String(repeating: "0", count: digits - rest.count))\(rest)"
    }
}
