/// The voice's pulses: the derivative of the flow through the glottis, a parabola that ends at once when it closes (the
/// KLGLOTT88 model; D. H. Klatt, L. C. Klatt, JASA 1990), with the small irregularities of a living voice.
struct Glottis: Sendable {
    private static let sampleRate = 48_000.0
    /// The part of a period in which the glottis is open.
    private static let openQuotient = 0.6
    /// Standard deviation of a period's length and of its amplitude: usual jitter and shimmer.
    private static let jitter = 0.008
    private static let shimmer = 0.04
    /// One-pole low-pass on the pulse, 3 kHz: a spoken voice closes less abruptly than the model.
    private static let tilt = 0.325

    var hertz = 100.0
    private var generator: SeededGenerator
    private var phase = 0.0
    private var irregularity = 1.0
    private var amplitude = 1.0
    private var smoothed = 0.0

    init(generator: SeededGenerator) {
        self.generator = generator
    }

    mutating func next() -> Double {
        phase += hertz * irregularity / Self.sampleRate
        if phase >= 1 {
            phase -= 1
            irregularity = 1 + Self.jitter * generator.gaussian()
            amplitude = 1 + Self.shimmer * generator.gaussian()
        }
        let open = phase / Self.openQuotient
        let flow = open < 1 ? amplitude * (2 * open - 3 * open * open) : 0
        smoothed += Self.tilt * (flow - smoothed)
        return smoothed
    }
}
