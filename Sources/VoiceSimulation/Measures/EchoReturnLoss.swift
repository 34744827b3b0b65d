import Glibc

/// How much less echo is left after a canceller than came in (echo return loss enhancement, ITU-T G.168), measured over
/// the 20 ms frames in which there is echo.
package struct EchoReturnLoss: Equatable, Sendable {
    /// Frames that activity is judged over: 20 ms at 48 kHz.
    package static let frameLength = 960
    /// How far below the loudest frame of echo a frame still counts, in dB.
    package static let activityRange = 30.0
    /// Echo below this is not heard in any room and does not count, in dB relative to full scale.
    package static let quietestEcho = -70.0
    /// A residual below this counts as this, in dB relative to full scale: half a step of 16 bits.
    package static let residualFloor = -96.0

    /// Energy of the echo over energy of the residual, in the frames with echo, in dB.
    package let enhancementDecibels: Double
    /// The median over those frames of each frame's own enhancement, in dB: robust against a few frames of divergence.
    package let medianDecibels: Double
    /// How many frames have echo.
    package let activeFrames: Int

    /// Compares the microphone's echo component with what is left of it, frame for frame at the same time.
    ///
    /// Pure; allocates one value per frame. Nil when no frame has echo.
    /// - Parameters:
    ///   - echo: what the echo alone added to the microphone.
    ///   - residual: what the echo alone adds to the output; measured over the shorter of the two lengths.
    package init?(echo: Span<Float>, residual: Span<Float>) {
        let frames = min(echo.count, residual.count) / Self.frameLength
        var incoming = [Double](repeating: 0, count: frames)
        var remaining = incoming
        let floor = pow(10, Self.residualFloor / 10)
        for frame in 0..<frames {
            let range = frame * Self.frameLength..<(frame + 1) * Self.frameLength
            incoming[frame] = meanPower(echo, range)
            remaining[frame] = max(meanPower(residual, range), floor)
        }
        let loudest = incoming.max() ?? 0
        let threshold = max(loudest * pow(10, -Self.activityRange / 10), pow(10, Self.quietestEcho / 10))
        let active = (0..<frames).filter { incoming[$0] >= threshold }
        guard !active.isEmpty else { return nil }
        let echoEnergy = active.reduce(0) { $0 + incoming[$1] }
        let residualEnergy = active.reduce(0) { $0 + remaining[$1] }
        let each = active.map { 10 * log10(incoming[$0] / remaining[$0]) }.sorted()
        enhancementDecibels = 10 * log10(echoEnergy / residualEnergy)
        medianDecibels = each[each.count / 2]
        activeFrames = active.count
    }
}
