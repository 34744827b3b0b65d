/// A set of measurements, and what can be said of it without assuming a distribution.
struct Samples {
    private let sorted: [Double]

    init(_ values: [Double]) {
        precondition(!values.isEmpty)
        sorted = values.sorted()
    }

    var count: Int { sorted.count }
    var smallest: Double { sorted[0] }
    var median: Double { quantile(0.5) }

    /// The value below which the share `q`, 0 to 1, of the measurements lies, interpolated between neighbours.
    func quantile(_ q: Double) -> Double {
        let position = q * Double(sorted.count - 1)
        let below = Int(position)
        let above = min(below + 1, sorted.count - 1)
        return sorted[below] + (position - Double(below)) * (sorted[above] - sorted[below])
    }
}
