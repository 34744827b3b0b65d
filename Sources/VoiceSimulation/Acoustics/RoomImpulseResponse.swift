import Glibc

/// The impulse response from the loudspeaker to the microphone of a `ShoeboxRoom`.
///
/// Image-source method (J. B. Allen, D. A. Berkley, "Image method for efficiently simulating small-room acoustics",
/// JASA 1979) with one reflection coefficient for all walls, images placed between samples by windowed sincs (P. M.
/// Peterson, JASA 1986), and the high-pass of the first paper against the bias of images that all have one sign.
/// Eyring's formula gives a first coefficient; as real image fields decay more slowly than it says (E. A. Lehmann, A.
/// M. Johansson, JASA 2008), the coefficient is then corrected until the images' own energy decays in the time asked
/// for.
package struct RoomImpulseResponse: Equatable, Sendable {
    /// Metres per second in air at 20 degrees Celsius.
    package static let speedOfSound = 343.2
    /// Corner of the high-pass in Hz: 0.01 of Allen and Berkley's 10 kHz sample rate.
    private static let highPassHertz = 100.0

    /// The taps; the direct sound has amplitude 1 / distance in metres before the high-pass.
    package let taps: [Float]
    /// Frames per second.
    package let sampleRate: Int
    /// What each wall reflects of the pressure, 0...1.
    package let reflection: Double
    /// Index of the direct sound.
    package let directFrame: Int

    /// Computes the response of `room`, cut after `length` (1 ms to 2 s) with a short fade. Takes milliseconds to
    /// tenths of a second: the number of images grows with the third power of the length.
    package init(
        of room: ShoeboxRoom, length: Duration, sampleRate: Int = 48_000
    ) throws(SimulationSettingError) {
        try room.validate("room")
        try require(length >= .milliseconds(1) && length <= .seconds(2), "length", "must be between 1 ms and 2 s")
        try require((8_000...192_000).contains(sampleRate), "sampleRate", "must be between 8 kHz and 192 kHz")
        let frames = Int(length / .seconds(1) * Double(sampleRate))
        let images = ImageSources(of: room, within: length)
        self.sampleRate = sampleRate
        reflection = images.reflection
        directFrame = Int((room.distance / Self.speedOfSound * Double(sampleRate)).rounded())
        var response = images.place(frames: frames, sampleRate: Double(sampleRate))
        var highPass = HighPassFilter(cutoffHertz: Self.highPassHertz, sampleRate: Double(sampleRate))
        let fade = min(frames / 8, sampleRate / 200)
        for index in response.indices {
            let rest = Double(frames - index) / Double(max(fade, 1))
            let weight = rest < 1 ? 0.5 - 0.5 * cos(Double.pi * rest) : 1
            response[index] = highPass.process(response[index]) * Float(weight)
        }
        taps = response
    }

    /// Reverberation time by Schroeder's backward integration (JASA 1965), from the slope between -5 and -25 dB (ISO
    /// 3382-2, T20) of everything that comes 2.5 ms after the direct sound; nil when the response is too short to see
    /// it.
    package func reverberationTime() -> Duration? {
        let start = directFrame + sampleRate / 400
        guard start < taps.count else { return nil }
        let energies = taps[start...].map { Double($0) * Double($0) }
        return decayTime(energies: energies, rate: Double(sampleRate)).map { .seconds($0) }
    }
}

/// The time of a 60 dB decay in seconds, from the T20 slope of energies that follow each other at `rate` per second.
func decayTime(energies: [Double], rate: Double) -> Double? {
    let total = energies.reduce(0, +)
    guard total > 0 else { return nil }
    var remaining = total
    // Straight line through level over time, by least squares.
    var (n, sumX, sumY, sumXX, sumXY) = (0.0, 0.0, 0.0, 0.0, 0.0)
    for (index, energy) in energies.enumerated() {
        let level = 10 * log10(max(remaining / total, 1e-12))
        remaining -= energy
        if level > -5 { continue }
        if level < -25 {
            guard n >= 3 else { return nil }
            let slope = (n * sumXY - sumX * sumY) / (n * sumXX - sumX * sumX)
            return slope < 0 ? -60 / slope : nil
        }
        let x = Double(index) / rate
        (n, sumX, sumY, sumXX, sumXY) = (n + 1, sumX + x, sumY + level, sumXX + x * x, sumXY + x * level)
    }
    return nil
}
