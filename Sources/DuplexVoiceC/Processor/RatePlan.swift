/// The rate that a caller's sound is processed at.
struct RatePlan: Equatable {
    /// The caller's, Hz.
    let outer: Int
    /// The processor's, Hz: the same, or the next above.
    let inner: Int

    static let all = [
        (8_000, 16_000), (11_025, 16_000), (12_000, 16_000), (16_000, 16_000), (22_050, 32_000), (24_000, 32_000),
        (32_000, 32_000), (44_100, 48_000), (48_000, 48_000),
    ].map { RatePlan(outer: $0.0, inner: $0.1) }

    init(outer: Int, inner: Int) {
        self.outer = outer
        self.inner = inner
    }

    init?(_ outer: Int) {
        guard let plan = Self.all.first(where: { $0.outer == outer }) else { return nil }
        self = plan
    }

    var converts: Bool { outer != inner }

    /// Frames of 10 ms at the inner rate.
    var block: Int { inner / 100 }

    /// Frames of the caller's after which blocks begin as they did: the fewest that are a whole number of blocks. 10
    /// ms, or 20 or 40.
    var period: Int {
        var frames = 1
        while frames * inner % (outer * block) != 0 { frames += 1 }
        return frames
    }

    /// The largest number that both the caller's calls and the periods are multiples of, where each call is a multiple
    /// of so many frames.
    func step(blockFrames: Int) -> Int {
        var (a, b) = (period, max(1, blockFrames))
        while b != 0 { (a, b) = (b, a % b) }
        return a
    }
}
