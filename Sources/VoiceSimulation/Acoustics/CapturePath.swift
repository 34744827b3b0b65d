/// What happens to a microphone's sound after the room: `hand over it -> automatic gain`.
///
/// The same is done to its known parts, so that they still add up. A stream at 48 kHz in blocks of any length; neither
/// allocates nor blocks. In one thread's hands at a time.
package struct CapturePath: Sendable {
    /// How long the hand takes to cover the microphone, in frames: 60 ms.
    private static let reachFrames: Float = 2_880

    /// Whether a hand is on the microphone; a change takes effect within 60 ms.
    package var isCovered = false

    private var automaticGain: AutomaticGainProcess?
    private var covered: Float = 0
    private var microphoneHand = Hand()
    private var echoHand = Hand()
    private var nearHand = Hand()

    /// A path with a gain control, or with none; throws when its settings cannot be simulated.
    package init(automaticGain: AutomaticGain? = nil) throws(SimulationSettingError) {
        try automaticGain?.validate("automaticGain")
        self.automaticGain = automaticGain.map { AutomaticGainProcess($0) }
    }

    /// Changes the next frames of the microphone, and what the echo and the near talker are of them. All have the same
    /// length.
    package mutating func process(
        microphone: inout MutableSpan<Float>, echo: inout MutableSpan<Float>, near: inout MutableSpan<Float>
    ) {
        precondition(microphone.count == echo.count && echo.count == near.count, "one length for all")
        for index in microphone.indices {
            moveHand()
            let heard = microphoneHand.cover(microphone[index], share: covered)
            let gain = automaticGain?.next(heard) ?? 1
            microphone[index] = min(max(heard * gain, -1), 1)
            echo[index] = echoHand.cover(echo[index], share: covered) * gain
            near[index] = nearHand.cover(near[index], share: covered) * gain
        }
    }

    private mutating func moveHand() {
        let step = 1 / Self.reachFrames
        covered = min(max(covered + (isCovered ? step : -step), 0), 1)
    }
}

/// A hand that covers a share of a microphone.
private struct Hand {
    /// What it lets through: the corner of its low-pass in Hz, and the gain below that, -10 dB.
    private static let highestHertz = 900.0
    private static let gain: Float = 0.316

    private var muffle = LowPassFilter(cutoffHertz: highestHertz, sampleRate: RoomAcoustics.sampleRate)

    mutating func cover(_ sample: Float, share: Float) -> Float {
        let muffled = muffle.process(sample) * Self.gain
        return sample + share * (muffled - sample)
    }
}
