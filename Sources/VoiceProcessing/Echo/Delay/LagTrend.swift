/// The drift of two clocks from where the echo's peak wanders: a straight line through the lags of the last seconds.
///
/// Coarser than ``DriftLoop``, which needs a filter that fits; but this sees through double talk and needs no filter at
/// all.
struct LagTrend {
    /// Time constant of the line, in rounds of 20 ms: 6 s.
    private static let memory = 300.0
    /// Rounds after which the line says something: 1.5 s.
    private static let least = 75.0
    /// Frames within which a peak belongs to the line.
    private static let near = 12.0
    /// Frames by which the lag must have wandered: more than a room's reflections exchange places.
    private static let wander = 2.5
    /// Frames of scatter about the line beyond which it is none.
    private static let scatter = 0.8
    /// Frames of 16 kHz in a round.
    private static let roundFrames = 320.0

    private var weight = 0.0
    private var time = 0.0
    private var lag = 0.0
    private var timeSquared = 0.0
    private var product = 0.0
    private var lagSquared = 0.0
    private var first = 0.0
    private var strangers = 0
    /// Rounds since the last peak that was taken.
    private var gap = 0.0

    /// Frames per frame by which the delay grows; nil while there is no plain trend.
    private(set) var slope: Double?

    mutating func clear() { self = LagTrend() }

    /// A round went by without a plain peak.
    mutating func skip() { gap += 1 }

    /// Takes the plain peak of a round.
    mutating func add(_ newLag: Int) {
        gap += 1
        let predicted = weight > 0 ? lag + (slope ?? 0) * Self.roundFrames * (gap - time) : Double(newLag)
        guard abs(Double(newLag) - predicted) < Self.near else {
            strangers += 1
            if strangers > 10 { clear() }
            return
        }
        strangers = 0
        // Means about the newest round, which is time 0, of what is remembered.
        let keep = 1 - 1 / min(Self.memory, weight + 1)
        weight = min(Self.memory, weight + 1)
        let new = Double(newLag) - first
        if weight == 1 { first = Double(newLag) }
        let value = weight == 1 ? 0 : new
        let before = (time: time - gap, lag: lag - first)
        let oldTimeSquared = timeSquared - 2 * gap * time + gap * gap
        let oldProduct = product - gap * before.lag
        gap = 0
        time = keep * before.time
        timeSquared = keep * oldTimeSquared
        product = keep * oldProduct
        lagSquared = keep * lagSquared + (1 - keep) * value * value
        lag = first + keep * before.lag + (1 - keep) * value
        judge()
    }

    private mutating func judge() {
        slope = nil
        let mean = lag - first
        let variance = timeSquared - time * time
        guard weight >= Self.least, variance > 0 else { return }
        let perRound = (product - time * mean) / variance
        let residual = lagSquared - mean * mean - perRound * perRound * variance
        let span = 2 * (3 * variance).squareRoot()
        guard abs(perRound) * span > Self.wander, residual < Self.scatter * Self.scatter else { return }
        slope = perRound / Self.roundFrames
    }
}
