import Glibc

/// Maps the values of an axis to pixels, and chooses where its marks stand.
struct PlotScale {
    let values: ClosedRange<Double>
    /// Where the least value lies and where the greatest does.
    let pixels: (from: Double, to: Double)

    /// Less is no extent: far below what any sound, time or share has.
    private static let leastExtent = 1e-12

    /// A scale of `values`; a range without extent is widened, one that is not of numbers, or whose extent is none,
    /// becomes 0 to 1.
    init(_ values: ClosedRange<Double>, from: Double, to: Double) {
        let (low, high) = (values.lowerBound, values.upperBound)
        if !low.isFinite || !high.isFinite || !(high - low).isFinite {
            self.values = 0...1
        } else if high - low < max(max(abs(low), abs(high)) * 1e-9, Self.leastExtent) {
            let margin = max(abs(low) * 0.01, 0.5)
            self.values = low - margin...high + margin
        } else {
            self.values = values
        }
        pixels = (from, to)
    }

    subscript(value: Double) -> Double {
        let part = (value - values.lowerBound) / (values.upperBound - values.lowerBound)
        return pixels.from + part * (pixels.to - pixels.from)
    }

    /// Round values, at most about `count` of them, in steps of 1, 2 or 5 times a power of ten.
    func ticks(_ count: Int) -> [(value: Double, text: String)] {
        let extent = values.upperBound - values.lowerBound
        let rough = extent / Double(max(count, 1))
        let magnitude = pow(10, floor(log10(rough)))
        let step = [1.0, 2, 5, 10].map { $0 * magnitude }.first { $0 >= rough * 0.999 } ?? rough
        let digits = max(0, Int((-log10(step)).rounded(.up)))
        let first = (values.lowerBound / step - 1e-9).rounded(.up)
        let last = (values.upperBound / step + 1e-9).rounded(.down)
        guard last >= first, last - first < 100 else { return [] }
        return (0...Int(last - first)).map { index in
            let value = (first + Double(index)) * step
            return (value, value.fixed(digits))
        }
    }
}
