/// A delay that swings to and fro, as when a device's resampler hunts for the rate of another's clock.
package struct DelaySwing: Equatable, Sendable {
    /// How far it swings to either side, in frames: 0...1,000.
    package var frames: Double
    /// The time of a whole swing, 100 ms to 10 minutes.
    package var period: Duration

    /// A swing.
    package init(frames: Double, period: Duration) {
        self.frames = frames
        self.period = period
    }

    func validate(_ name: String) throws(SimulationSettingError) {
        try require((0...1_000).contains(frames), "\(name).frames", "must be between 0 and 1,000 frames")
        try require(
            period >= .milliseconds(100) && period <= .seconds(600), "\(name).period",
            "must be between 100 ms and 10 minutes")
    }
}
