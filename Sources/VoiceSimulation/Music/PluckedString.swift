/// A plucked string: noise that goes round a delay line and loses its treble on the way (K. Karplus, A. Strong,
/// "Digital synthesis of plucked-string and drum timbres", Computer Music Journal 1983).
struct PluckedString: Sendable {
    /// The lowest tone's period fits in here: 40 Hz at 48 kHz.
    private static let longestPeriod = 1_200
    /// What is left of the sound after each round: a tone of 200 Hz falls by 60 dB in some 3 s.
    private static let loss: Float = 0.9975

    private var line = [Float](repeating: 0, count: longestPeriod)
    private var period = 1
    private var place = 0

    /// Starts a tone; what still sounds is damped.
    mutating func pluck(hertz: Double, amplitude: Float, generator: inout SeededGenerator) {
        period = min(max(Int(RoomAcoustics.sampleRate / hertz), 2), Self.longestPeriod)
        place = 0
        for index in 0..<period { line[index] = amplitude * Float(generator.uniform(in: -1...1)) }
    }

    mutating func next() -> Float {
        let following = place + 1 < period ? place + 1 : 0
        let sound = line[place]
        line[place] = Self.loss * 0.5 * (sound + line[following])
        place = following
        return sound
    }
}
