import Glibc
import VoiceSignal

/// Tells a path that moves from one that stays, by two filters of which one forgets fast: where it moves, that one is
/// nearer to it.
///
/// The difference δ of their estimates is set against the slow one's error e, both from before they learned of the
/// block: ⟨e, δ⟩ / ⟨δ, δ⟩ is the quick one's share in the best mixture of both (J. Arenas-García, A. R. Figueiras-Vidal
/// and A. H. Sayed, "Mean-square performance of a convex combination of two adaptive filters", IEEE Transactions on
/// Signal Processing 54, 2006). A near end is part of neither estimate and averages out. The share was 0 to 0.2 in an
/// office, while both talked too, and 0.3 to 0.9 with a microphone that sways, somebody who walks or a delay that
/// swings.
struct PathMotion {
    /// A filter's memory per 10 ms: of a path that stays, and of one that moves as fast as any.
    static let longest: Float = 1 - 2e-5
    static let shortest: Float = 1 - 1e-3

    /// Weight of a block in the averages: half a second.
    private static let weight: Float = 0.02
    /// Shares of the quick filter between which the memory goes from longest to shortest.
    private static let moving: ClosedRange<Float> = 0.15...0.6
    /// Added to a difference's energy over the error's, so that filters that agree tell nothing.
    private static let agreement: Float = 1e-4
    /// Energy of a block of -120 dBFS.
    private static let silence: Float = 160 * 1e-12

    private var product: Float = 0
    private var difference: Float = 0

    /// Takes a block's errors. Each block counts the same, however loud.
    mutating func observe(error: borrowing RealVector, quickError: borrowing RealVector) {
        precondition(error.count == quickError.count)
        var (ed, dd): (Float, Float) = (0, 0)
        for index in 0..<error.count {
            let difference = error[index] - quickError[index]
            ed += error[index] * difference
            dd += difference * difference
        }
        let energy = error.energy + Self.silence
        product += Self.weight * (ed / energy - product)
        difference += Self.weight * (dd / energy - difference)
    }

    /// The quick filter's share in the best mixture, 0...1.
    var share: Float { min(1, max(0, product / (difference + Self.agreement))) }

    /// How much of the path a filter should keep per 10 ms.
    var memory: Float {
        let span = Self.moving.upperBound - Self.moving.lowerBound
        let speed = min(1, max(0, (share - Self.moving.lowerBound) / span))
        return 1 - (1 - Self.longest) * powf((1 - Self.shortest) / (1 - Self.longest), speed)
    }
}
