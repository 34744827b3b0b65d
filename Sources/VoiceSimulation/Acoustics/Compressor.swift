import Glibc

/// What makes a small device's playback loud and spares its driver: above a threshold the level grows more slowly.
///
/// It sits behind the tap of the reference, so that an echo canceller sees an echo path whose gain changes from word to
/// word.
package struct Compressor: Equatable, Sendable {
    /// Level from which on it acts, in dB relative to full scale (an RMS of 1): -80...0.
    package var thresholdDecibels: Double
    /// How many dB more of input make one dB more of output above the threshold: 1...100.
    package var ratio: Double
    /// Time in which it reacts to a louder sound; 0.1 ms to 1 s.
    package var attack: Duration
    /// Time in which it lets go; 1 ms to 10 s.
    package var release: Duration

    /// A compressor; the defaults are those of a device that keeps every word equally loud.
    package init(
        thresholdDecibels: Double, ratio: Double = 5, attack: Duration = .milliseconds(3),
        release: Duration = .milliseconds(120)
    ) {
        self.thresholdDecibels = thresholdDecibels
        self.ratio = ratio
        self.attack = attack
        self.release = release
    }

    func validate(_ name: String) throws(SimulationSettingError) {
        try require((-80...0).contains(thresholdDecibels), "\(name).thresholdDecibels", "must be between -80 and 0 dB")
        try require((1...100).contains(ratio), "\(name).ratio", "must be between 1 and 100")
        try require(
            attack >= .microseconds(100) && attack <= .seconds(1), "\(name).attack", "must be between 0.1 ms and 1 s")
        try require(
            release >= .milliseconds(1) && release <= .seconds(10), "\(name).release", "must be between 1 ms and 10 s")
    }
}

/// A `Compressor` at work.
struct CompressorProcess {
    private let model: Compressor
    private var follower: LevelFollower

    init(_ model: Compressor) {
        self.model = model
        follower = LevelFollower(rise: model.attack, fall: model.release)
    }

    mutating func process(_ sample: Float) -> Float {
        let over = follower.next(sample) - model.thresholdDecibels
        guard over > 0 else { return sample }
        return sample * Float(pow(10, -over * (1 - 1 / model.ratio) / 20))
    }
}
