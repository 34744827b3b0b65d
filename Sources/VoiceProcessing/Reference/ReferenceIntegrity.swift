import VoiceSignal

/// Whether the reference is what was played: what a canceller cannot make good, or had to.
public struct ReferenceIntegrity: BitwiseCopyable, Equatable, Sendable {
    /// What is wrong with a reference, so that an echo comes through whatever the canceller does.
    public enum Problem: UInt8, BitwiseCopyable, CaseIterable, Sendable {
        /// Parts of it are missing: it breaks off amid sound, as where frames are lost. Their echo cannot be cancelled.
        case gaps
        /// It is at full scale too often: an echo of what was clipped after the reference was taken is none of a linear
        /// path. Lower the level.
        case clipping
        /// It may come too late: an echo that precedes it cannot be cancelled. Take it earlier.
        case lateness
    }

    /// What has become of it from one report to a later one.
    public enum Change: BitwiseCopyable, Equatable, Sendable {
        /// From now on it has this problem,
        case began(Problem)
        /// or no more.
        case ended(Problem)
        /// The echo has become so much louder, dB, at once, as by a volume control behind the reference; it is
        /// followed.
        case gainChanged(decibels: Float)
        /// The echo comes so much later than before, or sooner where that is negative; the reference was re-timed.
        case shifted(by: Duration)
    }

    /// Share of the last second's frames at full scale, 0...1.
    public var clippedShare: Float = 0
    /// Whether that is more than 1 %, and not yet less than 0.3 % again.
    public var isClipped = false
    /// Whether there was a gap in the last 5 s.
    public var isGapped = false
    /// Whether the echo is found within 1 ms of the reference.
    public var isLate = false
    /// The last change of the echo's gain, dB; nil before any.
    public var lastGainChange: Float?
    /// By how much the echo was last found to come later than before; nil before any shift.
    public var lastShift: Duration?
    /// Times that it broke off into digital silence amid sound and went on within 0.1 s.
    public var gaps = 0
    /// Times that the echo's gain changed by more than 2.3 dB while its path stayed the same. Each is told once it is
    /// certain: after a second of the far end, later while both talk.
    public var gainChanges = 0
    /// Times that the echo was found elsewhere once its path was known, and the reference was re-timed.
    public var shifts = 0

    /// Nothing is wrong.
    package init() {}

    /// Whether it has the problem now.
    package func has(_ problem: Problem) -> Bool {
        switch problem {
        case .gaps: isGapped
        case .clipping: isClipped
        case .lateness: isLate
        }
    }

    /// Tells what has changed since an earlier report.
    package func forEachChange(since earlier: ReferenceIntegrity, _ tell: (Change) -> Void) {
        for problem in Problem.allCases where has(problem) != earlier.has(problem) {
            tell(has(problem) ? .began(problem) : .ended(problem))
        }
        if gainChanges != earlier.gainChanges, let lastGainChange { tell(.gainChanged(decibels: lastGainChange)) }
        if shifts != earlier.shifts, let lastShift { tell(.shifted(by: lastShift)) }
    }
}

/// Watches the reference's blocks.
struct ReferenceMonitor {
    /// Magnitude that is full scale.
    private static let fullScale: Float = 0.999
    /// Shares of clipped frames from which it is a problem, and until which it stays one.
    private static let clipped: (from: Float, until: Float) = (0.01, 0.003)
    /// Weight of a block: 1 s.
    private static let weight: Float = 0.01
    /// Mean square of a block that is sound: -50 dBFS.
    private static let sound: Float = 1e-5
    /// Blocks of silence that are a gap and no pause.
    private static let longestGap = 10
    /// Blocks for which a gap is a problem.
    private static let gapped = 500

    private(set) var integrity = ReferenceIntegrity()
    private var wasSound = false
    private var silentFor = 0
    private var sinceGap = 0

    mutating func observe(_ block: borrowing RealVector) {
        measureClipping(block)
        let power = block.energy / Float(block.count)
        sinceGap += 1
        if sinceGap > Self.gapped { integrity.isGapped = false }
        if power == 0 {
            silentFor += wasSound ? 1 : 0
        } else {
            if silentFor > 0, silentFor <= Self.longestGap, power > Self.sound { countGap() }
            silentFor = 0
            wasSound = power > Self.sound && Self.endsAmidSound(block, power: power)
        }
    }

    private mutating func measureClipping(_ block: borrowing RealVector) {
        var clipped = 0
        for index in 0..<block.count where abs(block[index]) >= Self.fullScale { clipped += 1 }
        integrity.clippedShare += Self.weight * (Float(clipped) / Float(block.count) - integrity.clippedShare)
        integrity.isClipped = integrity.clippedShare > (integrity.isClipped ? Self.clipped.until : Self.clipped.from)
    }

    private mutating func countGap() {
        integrity.gaps += 1
        integrity.isGapped = true
        sinceGap = 0
    }

    /// A talker fades; what is lost is cut off. The last half millisecond tells.
    private static func endsAmidSound(_ block: borrowing RealVector, power: Float) -> Bool {
        var highest: Float = 0
        for index in block.count - 8..<block.count { highest = max(highest, abs(block[index])) }
        return highest > 0.3 * power.squareRoot()
    }

    mutating func countGainChange(decibels: Float) {
        integrity.gainChanges += 1
        integrity.lastGainChange = decibels
    }

    mutating func countShift(by shift: Duration) {
        integrity.shifts += 1
        integrity.lastShift = shift
    }
}
