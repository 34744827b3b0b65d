import Glibc
import VoiceSimulation

/// What devices do to an echo and to a microphone that no linear path explains; 16 kHz.
///
/// Of a recorded echo a filter fitted offline explains 3 to 20 dB. What is behind that differs from device to device,
/// and no model of one is made here: an echo's bands are each turned up and down, by chance and by how loud they are
/// (multiband compressors, limiters, cancellers in the device's own firmware), it comes by a second way, and noise goes
/// with it (codecs, buzz). A canceller in the device lets it through in pieces, and clocks that are set right move it by
/// parts of a frame. Then a gate or a gain control turns the whole microphone down.
struct DeviceSound {
    private static let rate = 16_000.0
    /// Frames for which the gains hold: 2 ms.
    private static let hold = 32

    private let bands: [Band]
    private let corners: [Double]
    private let secondArrival: (frames: Int, gain: Float)?
    /// A canceller in the device that lets the echo through now and then: for how long it does and does not, mean
    /// seconds, and its gain when it does not.
    private let leaks: (open: Double, closed: Double, gain: Float)?
    /// By how many frames the echo comes sooner or later, standard deviation, and for how long that holds, seconds.
    private let jitter: (frames: Double, period: Double)?
    /// Amplitude of the noise that goes with the echo, and how much of it is taken off its low frequencies, 0...1.
    private let noise: Float
    private let noiseTilt: Float
    private let gate: (threshold: Double, gain: Double)?

    /// A device that is drawn at random.
    init(_ draw: inout SeededGenerator) {
        let count = 1 + Int(draw.uniform() * 5)
        corners = (1..<max(count, 2)).map { _ in exp(draw.uniform(in: log(300.0)...log(5_000))) }.sorted().prefix(
            count - 1
        )
        .map { $0 }
        let fluctuation = draw.chance(0.75) ? draw.uniform(in: 0.3...5.5) : 0
        jitter =
            draw.chance(0.4)
            ? (exp(draw.uniform(in: log(0.03)...log(0.8))), exp(draw.uniform(in: log(0.01)...log(0.6)))) : nil
        noiseTilt = draw.chance(0.6) ? Float(draw.uniform(in: 0...0.95)) : 0
        let ratio = draw.chance(0.5) ? draw.uniform(in: 1.3...10) : 1
        bands = (0..<count).map { _ in
            Band(
                fluctuation: fluctuation * draw.uniform(in: 0.6...1.4),
                period: exp(draw.uniform(in: log(0.02)...log(0.5))),
                over: draw.uniform(in: -6...10), ratio: ratio, attack: exp(draw.uniform(in: log(0.001)...log(0.03))),
                release: exp(draw.uniform(in: log(0.03)...log(0.4))))
        }
        secondArrival =
            draw.chance(0.25)
            ? (Int(draw.uniform(in: 80...960)), Float(draw.uniform(in: -0.9...0.9))) : nil
        noise = draw.chance(0.55) ? Float(pow(10, draw.uniform(in: -32 ... -7) / 20)) : 0
        leaks =
            draw.chance(0.15)
            ? (
                exp(draw.uniform(in: log(0.03)...log(1.0))), exp(draw.uniform(in: log(0.05)...log(1.5))),
                Float(pow(10, draw.uniform(in: -45 ... -8) / 20))
            ) : nil
        gate = draw.chance(0.15) ? (draw.uniform(in: -12...6), pow(10, draw.uniform(in: -18 ... -4) / 20)) : nil
    }

    /// What an echo becomes.
    func echo(_ echo: [Float], _ draw: inout SeededGenerator) -> [Float] {
        var rest = echo
        if let (frames, gain) = secondArrival {
            for index in stride(from: rest.count - 1, through: frames, by: -1) {
                rest[index] += gain * echo[index - frames]
            }
        }
        var made = [Float](repeating: 0, count: echo.count)
        for (number, band) in bands.enumerated() {
            var part = rest
            if number < corners.count {
                part = Self.lowPass(Self.lowPass(rest, corners[number]), corners[number])
                for index in rest.indices { rest[index] -= part[index] }
            }
            band.turn(&part, hold: Self.hold, rate: Self.rate, &draw)
            for index in made.indices { made[index] += part[index] }
        }
        if let leaks { Self.leak(&made, leaks, &draw) }
        if let jitter { made = Self.jittered(made, jitter, &draw) }
        guard noise > 0 else { return made }
        var (rough, last): (Float, Float) = (0, 0)
        for index in made.indices {
            // Noise that goes with the envelope: what a codec makes of a sound that it has no bits for.
            rough += 0.02 * (abs(made[index]) - rough)
            let white = noise * (0.6 * made[index] + rough) * Float(draw.gaussian())
            made[index] += white - noiseTilt * last
            last = white
        }
        return made
    }

    /// An echo that comes a little sooner and later. Low frequencies hardly notice; of high ones no filter explains
    /// anything any more. Between frames: the cubic of E. Catmull and R. Rom, "A class of local interpolating splines",
    /// 1974.
    private static func jittered(
        _ echo: [Float], _ jitter: (frames: Double, period: Double), _ draw: inout SeededGenerator
    ) -> [Float] {
        let keep = exp(-1 / (jitter.period * rate))
        let innovation = jitter.frames * (1 - keep * keep).squareRoot()
        var (target, shift) = (0.0, 0.0)
        var made = echo
        for index in 6..<max(6, echo.count - 6) {
            target = keep * target + innovation * draw.gaussian()
            shift += 0.03 * (target - shift)
            let position = Double(index) - 1.5 + min(2.5, max(-2.5, shift))
            let whole = Int(position)
            let part = Float(position - Double(whole))
            let (before, from, to, after) = (echo[whole - 1], echo[whole], echo[whole + 1], echo[whole + 2])
            let curve = 2 * before - 5 * from + 4 * to - after + part * (3 * (from - to) + after - before)
            made[index] = from + 0.5 * part * (to - before + part * curve)
        }
        return made
    }

    private static func leak(
        _ echo: inout [Float], _ leaks: (open: Double, closed: Double, gain: Float), _ draw: inout SeededGenerator
    ) {
        var (isOpen, left, gain) = (true, 0, Float(1))
        for index in echo.indices {
            if left == 0 {
                isOpen.toggle()
                left = 1 + Int(-log(1 - draw.uniform()) * (isOpen ? leaks.open : leaks.closed) * rate)
            }
            left -= 1
            gain += 0.01 * ((isOpen ? 1 : leaks.gain) - gain)
            echo[index] *= gain
        }
    }

    /// Gain of each frame by which a gate that hears the echo turns the microphone down; nil: there is none.
    func gateGain(echo: [Float]) -> [Float]? {
        guard let gate else { return nil }
        let mean = 10 * log10(echo.reduce(0) { $0 + Double($1) * Double($1) } / Double(echo.count) + 1e-12)
        var (power, gain) = (0.0, 1.0)
        return echo.map { value in
            let now = Double(value) * Double(value)
            power += (now > power ? 0.005 : 0.0006) * (now - power)
            let target = 10 * log10(power + 1e-12) > mean + gate.threshold ? gate.gain : 1
            gain += (target < gain ? 0.006 : 0.0008) * (target - gain)
            return Float(gain)
        }
    }

    private static func lowPass(_ sound: [Float], _ hertz: Double) -> [Float] {
        let weight = Float(1 - exp(-2 * .pi * hertz / rate))
        var state: Float = 0
        return sound.map { value in
            state += weight * (value - state)
            return state
        }
    }
}

/// How a band of an echo is turned up and down.
private struct Band {
    /// Standard deviation of what chance does, dB, and for how long it holds, seconds.
    let fluctuation: Double
    let period: Double
    /// The level above the band's mean from which it is compressed, dB, and by what.
    let over: Double
    let ratio: Double
    let attack: Double
    let release: Double

    func turn(_ sound: inout [Float], hold: Int, rate: Double, _ draw: inout SeededGenerator) {
        let mean = 10 * log10(sound.reduce(0) { $0 + Double($1) * Double($1) } / Double(sound.count) + 1e-12)
        let step = Double(hold) / rate
        let keep = exp(-step / period)
        let (rise, fall) = (Float(1 - exp(-1 / (attack * rate))), Float(1 - exp(-1 / (release * rate))))
        var (chance, power, gain, next) = (0.0, Float(0), Float(1), Float(1))
        for index in sound.indices {
            let now = sound[index] * sound[index]
            power += (now > power ? rise : fall) * (now - power)
            if index.isMultiple(of: hold) {
                chance = keep * chance + (1 - keep * keep).squareRoot() * draw.gaussian()
                let level = 10 * log10(Double(power) + 1e-12) - mean - over
                let decibels = fluctuation * chance - max(0, level) * (1 - 1 / ratio)
                next = Float(pow(10, decibels / 20))
            }
            gain += (next - gain) / Float(hold)
            sound[index] *= gain
        }
    }
}
