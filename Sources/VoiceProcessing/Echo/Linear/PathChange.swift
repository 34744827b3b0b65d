/// Tells a path that is another one from a near end that talks: the first takes the echo out of the microphone that the
/// estimate y speaks of, the second only adds to it.
///
/// However loud the near end is, ⟨d, y⟩ / ⟨y, y⟩ stays near 1 while the path d = y + … holds: the near end is no part
/// of y, so it only scatters the ratio, by √(⟨d, d⟩ / ⟨y, y⟩ / N) for N independent frames. A ratio that is low beyond
/// this scatter is another path.
///
/// A path that is lost has a ratio of 0. Where even that lies within the scatter, a low ratio is chance: a far end that
/// only hisses, say, below the noise of the room.
struct PathChange {
    /// Weight of a block in the averages: 80 ms.
    private static let weight: Float = 0.125
    /// Ratio from which on the estimate is right about more than half of the echo.
    private static let right: Float = 0.35
    /// Independent frames in the averages' time, and how many times the scatter the ratio must be below.
    private static let independent: Float = 150
    private static let certainty: Float = 2
    /// Mean square of the estimate, emphasised, below which it says nothing: -80 dBFS.
    private static let silence: Float = 1e-8
    /// Blocks for which no other change is looked for after one.
    private static let rest = 40

    private var microphone: Float = 0
    private var estimate: Float = 0
    private var product: Float = 0
    private var sinceChange = 0

    /// Whether the estimate is in the microphone as far as can be told.
    var isRight: Bool {
        guard estimate > Self.silence * 160 else { return false }
        return product / estimate > Self.right
    }

    /// Takes a block's powers and their product.
    ///
    /// - Returns: whether the path has changed.
    mutating func observe(microphone: Float, estimate: Float, product: Float) -> Bool {
        self.microphone += Self.weight * (microphone - self.microphone)
        self.estimate += Self.weight * (estimate - self.estimate)
        self.product += Self.weight * (product - self.product)
        sinceChange += 1
        guard sinceChange > Self.rest, self.estimate > Self.silence * 160 else { return false }
        let ratio = self.product / self.estimate
        let scatter = (self.microphone / self.estimate / Self.independent).squareRoot()
        let margin = Self.certainty * scatter
        guard margin < Self.right, ratio + margin < Self.right else { return false }
        sinceChange = 0
        return true
    }
}
