import Glibc
import TestCases
import VoiceSignal

extension SeededNumbers {
    /// Near enough to a normal distribution, variance 1.
    mutating func normal() -> Float {
        var sum: Float = 0
        for _ in 0..<12 { sum += Float(next() >> 40) / Float(1 << 24) }
        return sum - 6
    }
}

/// Speech-like: voiced stretches of a gliding harmonic tone through three resonances, hissing stretches, and pauses.
func speech(seconds: Double, rate: Int, seed: UInt64, level: Float = -26) -> [Float] {
    var generator = SeededNumbers(seed: seed)
    var samples = [Float](repeating: 0, count: Int(seconds * Double(rate)))
    var index = rate / 20
    while index < samples.count {
        let kind = Int.random(in: 0..<5, using: &generator)
        let length = Int(Float.random(in: 0.08...0.25, using: &generator) * Float(rate))
        let end = min(samples.count, index + length)
        let pitch = Float.random(in: 90...220, using: &generator)
        let glide = Float.random(in: -40...40, using: &generator)
        let resonances = (0..<3).map { Float(500 + 1000 * $0) * Float.random(in: 0.6...1.4, using: &generator) }
        let gains = (1...18).map { harmonic in
            resonances.map { 1 / (1 + powf((Float(harmonic) * pitch - $0) / 120, 2)) }.reduce(0.02, +)
        }
        var phase: Float = 0
        var jitter: Float = 0
        for at in index..<end where kind > 0 {
            let progress = Float(at - index) / Float(length)
            let envelope = sinf(.pi * progress)
            guard kind > 1 else {
                samples[at] = envelope * 0.4 * generator.normal()
                continue
            }
            // A voice's pitch wanders; without that two talkers would correlate.
            if at.isMultiple(of: rate / 200) { jitter = 0.8 * jitter + 0.02 * pitch * generator.normal() }
            phase += 2 * .pi * (pitch + glide * progress + jitter) / Float(rate)
            // Σ gain sin(n·phase) by the recurrence sin(n + 1) = 2 cos sin(n) - sin(n - 1).
            let twiceCosine = 2 * cosf(phase)
            var (before, now) = (Float(0), sinf(phase))
            var value = 0.12 * generator.normal()
            for gain in gains {
                value += gain * now
                (before, now) = (now, twiceCosine * now - before)
            }
            samples[at] = envelope * value
        }
        index = end
    }
    return scaled(samples, to: level)
}

/// White noise.
func noise(seconds: Double, rate: Int, seed: UInt64, level: Float) -> [Float] {
    var generator = SeededNumbers(seed: seed)
    return scaled((0..<Int(seconds * Double(rate))).map { _ in generator.normal() }, to: level)
}

/// An echo path: a direct sound, a reflection tail that decays by 60 dB in `reverberation` seconds.
func echo(
    of far: [Float], rate: Int, delay: Int, returnLoss: Float = 6, reverberation: Float = 0.15, seed: UInt64 = 99
) -> [Float] {
    var generator = SeededNumbers(seed: seed)
    // A sparse tail, one reflection per 0.7 ms, is enough for a canceller to work on and quick to make.
    let step = rate * 7 / 10_000
    let reflections = (1..<60).map { number -> (at: Int, gain: Float) in
        let seconds = Float(number * step) / Float(rate)
        return (number * step, 0.35 * generator.normal() * powf(10, -3 * seconds / reverberation))
    }
    var out = [Float](repeating: 0, count: far.count)
    for (at, gain) in [(0, 1)] + reflections {
        let shift = at + delay
        for index in shift..<max(shift, out.count) { out[index] += gain * far[index - shift] }
    }
    return scaled(out, to: rms(far) - returnLoss)
}

/// What a loudspeaker plays whose clock is fast by `ppm`: all of it sooner. Read by a windowed sinc, independently of
/// the product's own.
func drifting(_ samples: [Float], ppm: Double) -> [Float] {
    samples.indices.map { index -> Float in
        let position = Double(index) * (1 + ppm * 1e-6)
        let whole = Int(position)
        var sum = 0.0
        for tap in max(0, whole - 11)..<max(0, whole - 11, min(samples.count, whole + 13)) {
            let x = position - Double(tap)
            let sinc = x == 0 ? 1 : sin(.pi * x) / (.pi * x)
            sum += Double(samples[tap]) * sinc * (0.5 + 0.5 * cos(.pi * x / 13))
        }
        return Float(sum)
    }
}

/// RMS level, dBFS.
func rms(_ samples: some Sequence<Float>) -> Float {
    var sum: Float = 0
    var count: Float = 0
    for sample in samples {
        sum += sample * sample
        count += 1
    }
    return 10 * log10f(sum / max(1, count) + 1e-20)
}

/// The largest difference between frames at the same place of `samples` and of `other` times a factor, as far as both
/// reach; 1 where there are none.
func largestDifference(_ samples: ArraySlice<Float>, _ other: ArraySlice<Float>, times factor: Float = 1) -> Float {
    zip(samples, other).lazy.map { (sample: Float, other: Float) -> Float in abs(sample - factor * other) }.max() ?? 1
}

func scaled(_ samples: [Float], to level: Float) -> [Float] {
    let gain = powf(10, (level - rms(samples)) / 20)
    return samples.map { $0 * gain }
}

func sum(_ a: [Float], _ b: [Float]) -> [Float] { zip(a, b).map { $0 + $1 } }

/// The lag of `output` behind `input` at which they correlate best, and that correlation, 0...1.
func lag(of output: ArraySlice<Float>, behind input: [Float], upTo longest: Int) -> (frames: Int, correlation: Float) {
    var best = (frames: 0, correlation: Float(-1))
    let energyOut = output.reduce(0) { $0 + $1 * $1 }
    for lag in 0...longest {
        var product: Float = 0
        var energyIn: Float = 1e-12
        for index in output.indices {
            let past = input[index - lag]
            product += output[index] * past
            energyIn += past * past
        }
        let correlation = product / (energyIn * energyOut).squareRoot()
        if correlation > best.correlation { best = (lag, correlation) }
    }
    return best
}

/// Where in the second half the loudest stretch of `length` begins, so that a correlation has something to hold on to.
func loudest(_ samples: [Float], length: Int) -> Range<Int> {
    var best = (start: samples.count / 2, level: -Float.infinity)
    for start in stride(from: samples.count / 2, through: samples.count - length, by: length / 2) {
        let level = rms(samples[start..<start + length])
        if level > best.level { best = (start, level) }
    }
    return best.start..<best.start + length
}

/// The largest second difference: what a click stands out by.
func roughness(_ samples: some Collection<Float>) -> Float {
    let values = Array(samples)
    return (2..<values.count).map { abs(values[$0] - 2 * values[$0 - 1] + values[$0 - 2]) }.max() ?? 0
}

/// A sound without what is above a frequency, 12 dB per octave.
func lowPassed(_ samples: [Float], hertz: Double, rate: Int) -> [Float] {
    var filter = Biquad.lowPass(hertz: hertz, sampleRate: Double(rate))
    return samples.map { Float(filter.run(Double($0))) }
}
