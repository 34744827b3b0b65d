import Glibc
import VoiceSimulation

/// What a device's microphone hears below a voice: air, hands, a table, fans, and the mains.
///
/// On recordings of devices it is the loudest of all noise, up to 25 dB over a talker below 75 Hz, and still in the
/// way at 200 Hz.
struct Rumble {
    private static let rate = 16_000.0

    /// Above it the noise falls by 12 dB an octave, Hz.
    private let corner: Double
    private let decibels: Double
    /// By how much it swells and fades, standard deviation in dB, and for how long that holds, seconds.
    private let swell: (decibels: Double, period: Double)
    private let mains: (hertz: Double, decibels: Double, fall: Double)?

    /// A rumble that is drawn at random.
    ///
    /// - Parameter level: of what else is in the call, dBFS.
    init(beside level: Double, _ draw: inout SeededGenerator) {
        corner = exp(draw.uniform(in: log(30.0)...log(220)))
        decibels = min(-18, max(-90, level + draw.uniform(in: -34...3)))
        swell = (draw.chance(0.6) ? draw.uniform(in: 0...6) : 0, exp(draw.uniform(in: log(0.05)...log(2.0))))
        mains =
            draw.chance(0.25)
            ? (draw.chance(0.5) ? 50 : 60, min(-30, level + draw.uniform(in: -45 ... -12)), draw.uniform(in: 0...12))
            : nil
    }

    func samples(count: Int, _ draw: inout SeededGenerator) -> [Float] {
        let weight = 1 - exp(-2 * .pi * corner / Self.rate)
        let keep = exp(-1 / (swell.period * Self.rate))
        let innovation = swell.decibels * (1 - keep * keep).squareRoot()
        var (first, second, chance, power) = (0.0, 0.0, 0.0, 1e-12)
        var made = (0..<count).map { _ -> Double in
            first += weight * (draw.gaussian() - first)
            second += weight * (first - second)
            chance = keep * chance + innovation * draw.gaussian()
            let value = second * pow(10, chance / 20)
            power += value * value / Double(count)
            return value
        }
        let gain = pow(10, decibels / 20) / power.squareRoot()
        for index in made.indices { made[index] *= gain }
        if let mains {
            for harmonic in 1...12 {
                let level = mains.decibels - mains.fall * log2(Double(harmonic)) + draw.uniform(in: -12...0)
                let (amplitude, phase) = (1.41 * pow(10, level / 20), draw.uniform(in: 0...6.28))
                let step = 2 * .pi * mains.hertz * Double(harmonic) / Self.rate
                for index in made.indices { made[index] += amplitude * sin(phase + step * Double(index)) }
            }
        }
        return made.map { Float($0) }
    }
}
