import VoiceSignal

/// By how much the reference is delayed before the filter, and how that moves, in frames of 16 kHz.
///
///     0 ├── only whole frames ──┤ followed.lowerBound ├── parts of a frame, and drift ──┤ followed.upperBound
///
/// All limits of the delay are here. It is never negative: nothing can be read before it was played. Parts of a frame
/// are interpolated from the frames around them, the later ones too, so nearer than the interpolator's reach there are
/// whole frames only: a delay that drifts to there rests, and drifts on once it is moved away.
struct ReferenceDelay: BitwiseCopyable, Equatable {
    /// The whole delays that there are: 0 to 650 ms.
    static let offsets = 0...10_400
    /// Those at which it can be changed by parts of a frame.
    private static let followed = SincInterpolator.reach + 1..<offsets.upperBound
    /// Frames that a drift is let come near the limits, 1 ms: two seconds at 500 ppm.
    private static let reserve = 16
    private static let block = ReferenceSpectra.block

    /// Whole frames.
    private(set) var offset = 0
    /// Frames beyond `offset`, at the end of the newest block.
    private(set) var fraction = 0.0
    /// Frames per frame by which it grows.
    private(set) var drift = 0.0

    /// The whole delay nearest to one that is wanted.
    static func offset(nearest wanted: Int) -> Int { max(offsets.lowerBound, min(offsets.upperBound, wanted)) }

    /// Whether it can be changed by parts of a frame.
    var canFollow: Bool { Self.followed.contains(offset) }

    /// By how many blocks a whole delay must be changed so that it can follow a drift, and for a while; 0 where it can.
    static func blocks(toFollow drift: Double, at offset: Int) -> Int {
        let ahead = offset + (drift < 0 ? -reserve : reserve)
        if min(offset, ahead) < followed.lowerBound { return 1 }
        return max(offset, ahead) < followed.upperBound ? 0 : -1
    }

    /// The reference is read at whole frames.
    var isWhole: Bool { fraction == 0 && drift == 0 }

    /// Where in the filter an echo begins that comes so many frames after the reference; negative: before it.
    func place(ofEchoAt delay: Int) -> Int { delay - offset }

    /// By how many blocks it can be changed so that it comes nearest to that.
    func blocks(towards wanted: Int) -> Int {
        max(-(offset / Self.block), Int((Float(wanted - offset) / Float(Self.block)).rounded()))
    }

    /// Begins at another place, as near as there is one.
    mutating func move(to wanted: Int) {
        offset = Self.offset(nearest: wanted)
        fraction = 0
        restUnlessFollowed()
    }

    /// Begins so many blocks later.
    mutating func move(by blocks: Int) {
        offset += blocks * Self.block
        restUnlessFollowed()
    }

    /// Grows by a part of a frame, and by more and more; rests where it cannot.
    mutating func adjust(by frames: Double, drift: Double) {
        fraction += frames
        self.drift = drift
        restUnlessFollowed()
    }

    /// A block passes.
    mutating func advance() {
        fraction += drift * Double(Self.block)
        // Whole frames go to the offset, so that the fraction stays small.
        guard abs(fraction) >= 1 else { return }
        let whole = fraction.rounded(.towardZero)
        offset = Self.offset(nearest: offset + Int(whole))
        fraction -= whole
        restUnlessFollowed()
    }

    private mutating func restUnlessFollowed() {
        guard !canFollow else { return }
        fraction = 0
        drift = 0
    }
}
