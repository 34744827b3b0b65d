/// A sound device's sample clock, which runs a fixed amount fast or slow against the simulated time.
///
/// Frame `n` begins at `start + n / rate` with the true rate `nominal * (1 + offset)`; all arithmetic is on 128-bit
/// integers, so nothing accumulates: frame counts and times stay exact, and inverse to each other, for 40 days at 48
/// kHz.
package struct SampleClock: Equatable, Sendable {
    private static let billion: Int128 = 1_000_000_000
    private static let attosecondsPerSecond: Int128 = 1_000_000_000_000_000_000

    /// When frame 0 begins.
    package let start: Duration
    /// The rate that the device claims to run at, in frames per second.
    package let nominalRate: Int
    /// How much faster than that it really runs, in parts per billion of the nominal rate; negative is slower.
    package let offsetPartsPerBillion: Int

    /// A clock `offsetPPM` parts per million fast (kept in whole parts per billion). Rates up to 192 kHz and offsets up
    /// to 10,000 ppm either way are ours to ask for; more is a bug of the caller.
    package init(nominalRate: Int = 48_000, offsetPPM: Double = 0, start: Duration = .zero) {
        precondition((1...192_000).contains(nominalRate), "sample rate out of range")
        precondition(abs(offsetPPM) <= 10_000, "clock offset out of range")
        self.nominalRate = nominalRate
        self.start = start
        offsetPartsPerBillion = Int((offsetPPM * 1_000).rounded())
    }

    /// The true rate in frames per second.
    package var trueRate: Double { Double(nominalRate) * (1 + Double(offsetPartsPerBillion) * 1e-9) }

    /// How many whole frames have passed at `time`: the number of frames that a device has captured or needs to have
    /// played.
    package func frames(at time: Duration) -> Int64 {
        let elapsed = (time - start).attoseconds
        let (whole, rest) = (elapsed * framesPerGigasecond).quotientAndRemainder(
            dividingBy: Self.attosecondsPerSecond * Self.billion)
        return Int64(rest < 0 ? whole - 1 : whole)
    }

    /// When frame `index` begins: the first attosecond with `frames(at:)` equal to `index`.
    package func time(ofFrame index: Int64) -> Duration {
        let (whole, rest) = (Int128(index) * Self.attosecondsPerSecond * Self.billion).quotientAndRemainder(
            dividingBy: framesPerGigasecond)
        return start + Duration(attoseconds: rest > 0 ? whole + 1 : whole)
    }

    /// An exact integer: hertz times parts per billion.
    private var framesPerGigasecond: Int128 {
        Int128(nominalRate) * (Self.billion + Int128(offsetPartsPerBillion))
    }
}
