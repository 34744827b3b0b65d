import Glibc

/// Windowed sinc interpolation between samples, tabulated (J. O. Smith, "Digital audio resampling", CCRMA).
struct SincTable: Sendable {
    /// Zero crossings on each side of the point of interest.
    static let reach = 20
    /// Taps of one interpolation.
    static let width = 2 * reach
    /// Positions between two samples.
    static let phases = 256

    /// `phases + 1` rows of `width` weights. Tap `t` of a row weights the sample `t - reach + 1` away from the sample
    /// before the point; row `phases` stands for a whole sample.
    let weights: [Float]

    init() {
        weights = (0...Self.phases).flatMap { phase in
            (0..<Self.width).map { tap in
                let x = Double(tap - Self.reach + 1) - Double(phase) / Double(Self.phases)
                let window = 0.5 + 0.5 * cos(Double.pi * x / Double(Self.reach))
                return Float(x == 0 ? 1 : window * sin(Double.pi * x) / (Double.pi * x))
            }
        }
    }
}
