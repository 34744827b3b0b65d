import Glibc

/// The short-term power of a sound: rises in one time and falls in another.
struct LevelFollower {
    /// Powers below this are silence: -120 dB.
    private static let floor = 1e-12

    private let rise: Double
    private let fall: Double
    private var power = 0.0

    /// A follower whose power gets to 63 % of a step within these times.
    init(rise: Duration, fall: Duration) {
        self.rise = Self.step(rise)
        self.fall = Self.step(fall)
    }

    /// The level in dB relative to full scale after one more frame; -120 and more.
    mutating func next(_ sample: Float) -> Double {
        let now = Double(sample) * Double(sample)
        power += (now > power ? rise : fall) * (now - power)
        return 10 * log10(max(power, Self.floor))
    }

    private static func step(_ time: Duration) -> Double {
        1 - exp(-1 / (time / .seconds(1) * RoomAcoustics.sampleRate))
    }
}
