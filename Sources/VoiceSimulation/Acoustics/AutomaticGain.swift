import Glibc

/// A gain control in the capture path, in front of everything that the engine sees: it follows the level over seconds.
///
/// Operating systems, sound cards and conference microphones have one. An echo canceller behind it sees an echo path
/// whose gain moves.
package struct AutomaticGain: Equatable, Sendable {
    /// Where it brings the level to, in dB relative to full scale (an RMS of 1): -60...0.
    package var targetDecibels: Double
    /// The least and the most gain in dB, within -60...60.
    package var rangeDecibels: ClosedRange<Double>
    /// Time in which it reacts to a louder sound; 1 ms to 10 s.
    package var attack: Duration
    /// Time in which it gets louder again; 1 ms to 10 s.
    package var release: Duration

    /// A gain control; the defaults are in the range of those of laptops.
    package init(
        targetDecibels: Double = -24, rangeDecibels: ClosedRange<Double> = -10...12,
        attack: Duration = .milliseconds(80), release: Duration = .milliseconds(1_200)
    ) {
        self.targetDecibels = targetDecibels
        self.rangeDecibels = rangeDecibels
        self.attack = attack
        self.release = release
    }

    func validate(_ name: String) throws(SimulationSettingError) {
        try require((-60...0).contains(targetDecibels), "\(name).targetDecibels", "must be between -60 and 0 dB")
        try require(
            rangeDecibels.lowerBound >= -60 && rangeDecibels.upperBound <= 60, "\(name).rangeDecibels",
            "must be within -60 and 60 dB")
        for (time, property) in [(attack, "attack"), (release, "release")] {
            try require(
                time >= .milliseconds(1) && time <= .seconds(10), "\(name).\(property)", "must be between 1 ms and 10 s"
            )
        }
    }
}

/// An `AutomaticGain` at work.
struct AutomaticGainProcess {
    /// Below this nobody talks, and the gain rests; dB relative to full scale.
    private static let quietDecibels = -55.0
    /// How soon a pause is noticed.
    private static let pause: Duration = .milliseconds(150)

    private let model: AutomaticGain
    private var level: LevelFollower
    private var presence: LevelFollower
    private var gain: Float = 1

    init(_ model: AutomaticGain) {
        self.model = model
        level = LevelFollower(rise: model.attack, fall: model.release)
        presence = LevelFollower(rise: .milliseconds(20), fall: Self.pause)
    }

    /// The gain for the frame of which this is the sound.
    mutating func next(_ sample: Float) -> Float {
        guard presence.next(sample) > Self.quietDecibels else { return gain }
        let wanted = model.targetDecibels - level.next(sample)
        let range = model.rangeDecibels
        gain = Float(pow(10, min(max(wanted, range.lowerBound), range.upperBound) / 20))
        return gain
    }
}
