/// The power of a new path's echo over the reference's: a guess when the path begins, it is looked at again while its
/// echo is heard first.
struct PathLevel {
    /// Blocks after the beginning when it is looked at: the first and its multiples.
    private static let looks = 8...40

    private var blocks = 1_000
    private var microphone: Float = 0
    private var reference: Float = 0

    /// Whether the last look was the first.
    var isFirstLook: Bool { blocks == Self.looks.lowerBound }

    /// A path begins.
    mutating func restart() {
        blocks = 0
        microphone = 0
        reference = 0
    }

    /// Takes the energies of a block in which the reference plays.
    ///
    /// - Returns: the level, when it is time to look.
    mutating func observe(microphone newMicrophone: Float, reference newReference: Float) -> Float? {
        blocks += 1
        guard blocks <= Self.looks.upperBound else { return nil }
        microphone += newMicrophone
        reference += newReference
        guard blocks.isMultiple(of: Self.looks.lowerBound) else { return nil }
        return microphone / (reference + 1e-9)
    }
}
