/// How the loudspeaker follows the noise around the near end: quieter in a quiet room, and up to the volume that was
/// set in a loud one.
///
///     loudspeaker  0 dB ┤          ╭────────
///                       │        ╱
///               -range  ┤───────╯
///                       └──────┬───┬────────  noise at the microphone, dBFS
///                            quiet loud
public struct NoiseFollowing: Equatable, Sendable {
    /// How much quieter it is in a quiet room, 0 to 24 dB.
    public var range: Float
    /// The noise up to which the room is quiet, dBFS at the microphone, -90 to -20.
    public var quiet: Float
    /// The noise from which it is loud, dBFS, above ``quiet`` and up to -10.
    public var loud: Float

    /// 12 dB, between -65 and -40 dBFS, unless given otherwise.
    public init(range: Float = 12, quiet: Float = -65, loud: Float = -40) {
        self.range = range
        self.quiet = quiet
        self.loud = loud
    }

    func validate() throws(EngineError) {
        guard (0...24).contains(range) else {
            throw .invalidConfiguration("the range of the volume is \(range) dB; use 0 to 24")
        }
        guard (-90 ... -20).contains(quiet), loud > quiet, loud <= -10 else {
            throw .invalidConfiguration(
                "noise from \(quiet) to \(loud) dBFS cannot be followed; use -90 to -20, and above that up to -10")
        }
    }

    /// Where the volume is to be in this noise, dB.
    func target(noise: Float) -> Float {
        let share = min(max((noise - quiet) / (loud - quiet), 0), 1)
        return -range * (1 - share)
    }
}

/// Follows the noise slowly: up faster than down, so that nobody is cut off by a door that falls shut, and never in a
/// step that is heard.
struct NoiseFollower {
    /// How fast it goes up and down, dB a second.
    static let (rise, fall): (Float, Float) = (3, 1.5)

    let following: NoiseFollowing
    /// Where it is, dB.
    private(set) var decibels: Float

    /// Begins in the middle of its range.
    init(_ following: NoiseFollowing) {
        self.following = following
        decibels = -following.range / 2
    }

    /// Takes the noise of the time since the last; nil where nothing is known of it. While the far end sounds its echo
    /// may be in it: then it only falls.
    mutating func follow(noise: Float?, isFarEndSounding: Bool, elapsed: Duration) {
        guard let noise, noise.isFinite else { return }
        let target = following.target(noise: noise)
        let seconds = Float(elapsed / .seconds(1))
        if target > decibels {
            guard !isFarEndSounding else { return }
            decibels = min(decibels + Self.rise * seconds, target)
        } else {
            decibels = max(decibels - Self.fall * seconds, target)
        }
    }
}
