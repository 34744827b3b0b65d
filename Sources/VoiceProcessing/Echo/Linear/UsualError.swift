import Glibc

/// What the filter usually leaves of an echo, so that a path that is another one can be told from one that no filter
/// fits well.
///
/// A loudspeaker that distorts leaves a tenth to a half of the echo at any time, more in some words than in others;
/// then the quick filter is the better one now and then, and the path is still the same. Where the path has changed,
/// what is left rises far above the usual.
struct UsualError {
    /// Weight of a block in the average: 1 s of the far end alone.
    private static let weight: Float = 0.01
    /// Blocks of the far end alone after which something is usual: 0.5 s.
    private static let least = 50
    /// Rise above the usual, dB, that no word of a distorted echo makes.
    private static let surprise: Float = 9
    /// Rise above the usual, dB, from which a path that is only louder or softer shows: a device that limits its
    /// loudest words makes 4.
    private static let noticed: Float = 6
    /// Range of shares that are told apart, dB.
    private static let range: ClosedRange<Float> = -30...0

    private var level: Float = 0
    private var blocks = 0

    /// Takes the share of the microphone's power that is left of a block in which the far end alone is heard.
    mutating func observe(unexplained: Float) {
        blocks += 1
        level += max(Self.weight, 1 / Float(blocks)) * (Self.decibels(unexplained) - level)
    }

    /// A path begins of which nothing is usual.
    mutating func restart() { self = UsualError() }

    /// Whether so much is left that the path must be another.
    func isAnotherPath(unexplained: Float) -> Bool {
        blocks >= Self.least && Self.decibels(unexplained) > level + Self.surprise
    }

    /// Whether more is left than usual, as far as anything is usual yet.
    func isUnusual(unexplained: Float) -> Bool {
        blocks < Self.least || Self.decibels(unexplained) > level + Self.noticed
    }

    private static func decibels(_ share: Float) -> Float {
        min(range.upperBound, max(range.lowerBound, 10 * log10f(share + 1e-6)))
    }
}
