import Foundation
import VoiceSimulation

/// Sounds that are nobody's speech, at 16 kHz, to judge by. Made otherwise than those of tools/speech/noises.py, from
/// which the network learned: bursts of filtered noise for its ringing sines, pulses for its harmonics.
enum SpeechNoise: String, CaseIterable {
    case white, traffic, keyboard
    case pink, music, clock, dishes, footsteps, bell, bark, paper, cough, engine

    static let rate = 16_000.0

    /// Those that speech is heard in.
    static let underSpeech: [SpeechNoise] = [.white, .traffic, .keyboard]

    /// `frames` frames of a mean power of 1.
    func samples(frames: Int, seed: UInt64) -> [Float] {
        var draw = SeededGenerator(seed: seed, stream: rawValue)
        var sound = [Double](repeating: 0, count: frames)
        switch self {
        case .white: for index in sound.indices { sound[index] = draw.gaussian() }
        case .pink: Self.pink(&sound, &draw)
        case .traffic: Self.traffic(&sound, &draw)
        case .engine: Self.engine(&sound, hertz: draw.uniform(in: 20...60), &draw)
        case .music: Self.music(&sound, seed: seed)
        case .keyboard: Self.keyboard(&sound, &draw)
        case .clock:
            Self.repeated(&sound, &draw, every: 0.5...0.5) { Self.thud(&$0, at: $1, 2_000...5_000, 0.002, &$2) }
        case .dishes: Self.repeated(&sound, &draw, every: 0.1...2) { Self.clink(&$0, at: $1, &$2) }
        case .footsteps:
            Self.repeated(&sound, &draw, every: 0.45...0.6) { Self.thud(&$0, at: $1, 80...400, 0.03, &$2) }
        case .bell: Self.repeated(&sound, &draw, every: 0.8...6) { Self.ring(&$0, at: $1, &$2) }
        case .bark: Self.repeated(&sound, &draw, every: 0.3...3) { Self.bark(&$0, at: $1, &$2) }
        case .paper: Self.repeated(&sound, &draw, every: 0.5...2) { Self.crackle(&$0, at: $1, &$2) }
        case .cough: Self.repeated(&sound, &draw, every: 0.6...5) { Self.cough(&$0, at: $1, &$2) }
        }
        let power = sound.reduce(0) { $0 + $1 * $1 } / Double(frames)
        let gain = 1 / (power + 1e-30).squareRoot()
        return sound.map { Float($0 * gain) }
    }

    // MARK: Sounds that go on

    /// Sixteen octave-spaced sources that change at halving rates (R. F. Voss, J. Clarke, JASA 63, 1978).
    private static func pink(_ sound: inout [Double], _ draw: inout SeededGenerator) {
        var sources = [Double](repeating: 0, count: 16)
        for index in sound.indices {
            sources[min(15, (index + 1).trailingZeroBitCount)] = draw.gaussian()
            sound[index] = sources.reduce(0, +)
        }
    }

    /// A street: rumble below some 150 Hz, and vehicles that come and go, each an engine and the hiss of its tyres.
    private static func traffic(_ sound: inout [Double], _ draw: inout SeededGenerator) {
        var low = 0.0
        for index in sound.indices {
            low += 0.06 * (draw.gaussian() - low)
            sound[index] = 2 * low
        }
        let seconds = Double(sound.count) / rate
        var at = draw.uniform(in: 0...3)
        while at < seconds {
            let width = draw.uniform(in: 0.8...3)
            var vehicle = [Double](repeating: 0, count: Int(6 * width * rate))
            engine(&vehicle, hertz: draw.uniform(in: 25...90), &draw)
            var tyres = Resonator(hertz: draw.uniform(in: 500...1_200), width: 900)
            let (loudness, hiss) = (draw.uniform(in: 0.3...1.2), draw.uniform(in: 0.5...2))
            let begin = Int((at - 3 * width) * rate)
            for index in vehicle.indices where sound.indices.contains(begin + index) {
                let time = (Double(index) / rate - 3 * width) / width
                let noise = hiss * tyres.run(draw.gaussian())
                sound[begin + index] += loudness * exp(-time * time) * (vehicle[index] + noise)
            }
            at += draw.uniform(in: 1...7)
        }
    }

    /// Explosions of an engine's cylinders, uneven, through its exhaust.
    private static func engine(_ sound: inout [Double], hertz: Double, _ draw: inout SeededGenerator) {
        var (body, exhaust) = (Resonator(hertz: 2 * hertz, width: 60), Resonator(hertz: 9 * hertz, width: 200))
        var next = 0.0
        for index in sound.indices {
            var push = 0.02 * draw.gaussian()
            if Double(index) >= next {
                push += 3 + draw.gaussian()
                next += rate / hertz * draw.uniform(in: 0.97...1.03)
            }
            sound[index] = body.run(push) + 0.5 * exhaust.run(push)
        }
    }

    /// Music of the simulation, brought from 48 kHz to 16 by a windowed sinc.
    private static func music(_ sound: inout [Double], seed: UInt64) {
        let half = 24
        let taps = (-half...half).map { place -> Double in
            let x = Double.pi * 0.9 * Double(place) / 3
            return (place == 0 ? 1 : sin(x) / x) * (0.5 + 0.5 * cos(Double.pi * Double(place) / Double(half + 1)))
        }
        let music = SyntheticMusic.samples(frames: 3 * sound.count + 2 * half, seed: seed)
        for index in sound.indices {
            for tap in taps.indices { sound[index] += taps[tap] * Double(music[3 * index + tap]) }
        }
    }

    // MARK: Sounds that come and go

    /// Somebody types in bursts: a finger's tap, the key's bottom, its spring; each a burst of noise through the
    /// keyboard's case.
    private static func keyboard(_ sound: inout [Double], _ draw: inout SeededGenerator) {
        let (body, click) = (draw.uniform(in: 150...500), draw.uniform(in: 1_800...4_500))
        var at = 0.2
        while at * rate < Double(sound.count) {
            let force = exp(0.4 * draw.gaussian())
            burst(&sound, at: at, hertz: click, width: 1_500, seconds: 0.003, amplitude: force, &draw)
            burst(&sound, at: at + 0.006, hertz: body, width: 150, seconds: 0.012, amplitude: 2 * force, &draw)
            burst(
                &sound, at: at + draw.uniform(in: 0.05...0.11), hertz: click * 1.2, width: 1_200, seconds: 0.002,
                amplitude: 0.4 * force, &draw)
            at += draw.chance(0.08) ? draw.uniform(in: 0.6...2) : draw.uniform(in: 0.09...0.28)
        }
    }

    private static func repeated(
        _ sound: inout [Double], _ draw: inout SeededGenerator, every seconds: ClosedRange<Double>,
        _ strike: (inout [Double], Double, inout SeededGenerator) -> Void
    ) {
        var at = draw.uniform(in: 0.1...1)
        while at * rate < Double(sound.count) {
            strike(&sound, at, &draw)
            at += draw.uniform(in: seconds)
        }
    }

    private static func thud(
        _ sound: inout [Double], at time: Double, _ hertz: ClosedRange<Double>, _ seconds: Double,
        _ draw: inout SeededGenerator
    ) {
        for _ in 0..<3 {
            burst(
                &sound, at: time, hertz: draw.uniform(in: hertz), width: 0.3 * hertz.lowerBound, seconds: seconds,
                amplitude: draw.uniform(in: 0.5...1), &draw)
        }
    }

    /// China and glass: narrow resonances, high, struck once or twice.
    private static func clink(_ sound: inout [Double], at time: Double, _ draw: inout SeededGenerator) {
        for _ in 0..<6 {
            burst(
                &sound, at: time + (draw.chance(0.3) ? 0.04 : 0), hertz: draw.uniform(in: 1_200...7_000), width: 12,
                seconds: 0.001, amplitude: draw.uniform(in: 0.3...1), &draw)
        }
    }

    /// A telephone's bell: two tones that change places 20 times a second, for a second.
    private static func ring(_ sound: inout [Double], at time: Double, _ draw: inout SeededGenerator) {
        let (low, high) = (draw.uniform(in: 700...1_200), draw.uniform(in: 1_250...1_900))
        place(&sound, at: time, seconds: 1) { progress, second in
            let tone = second * 20 - floor(second * 20) < 0.5 ? low : high
            return sin(2 * Double.pi * tone * second) * min(1, 20 * (1 - progress))
        }
    }

    /// A dog: a rough tone that falls, with its harmonics.
    private static func bark(_ sound: inout [Double], at time: Double, _ draw: inout SeededGenerator) {
        let (from, length) = (draw.uniform(in: 350...900), draw.uniform(in: 0.08...0.2))
        var phase = 0.0
        var throat = Resonator(hertz: draw.uniform(in: 800...1_500), width: 500)
        var rough = draw
        place(&sound, at: time, seconds: length) { progress, _ in
            phase += from * (1.2 - 0.6 * progress) * (1 + 0.05 * rough.gaussian()) / rate
            let saw = 2 * (phase - floor(phase)) - 1
            return throat.run(saw + 0.5 * rough.gaussian()) * sin(Double.pi * progress)
        }
        draw = rough
    }

    /// Paper that is turned: many tiny cracks.
    private static func crackle(_ sound: inout [Double], at time: Double, _ draw: inout SeededGenerator) {
        for _ in 0..<Int(draw.uniform(in: 40...200)) {
            burst(
                &sound, at: time + 0.4 * draw.uniform() * draw.uniform(), hertz: draw.uniform(in: 1_500...6_500),
                width: 2_500, seconds: 0.001, amplitude: draw.uniform(), &draw)
        }
    }

    /// An explosion of breath through an open mouth, and what follows it.
    private static func cough(_ sound: inout [Double], at time: Double, _ draw: inout SeededGenerator) {
        let amplitude = draw.uniform(in: 0.5...1)
        for (hertz, width) in [(600.0, 300.0), (1_400, 500), (2_600, 900)] {
            burst(&sound, at: time, hertz: hertz, width: width, seconds: 0.06, amplitude: amplitude, &draw)
            burst(&sound, at: time + 0.12, hertz: hertz, width: width, seconds: 0.1, amplitude: 0.3 * amplitude, &draw)
        }
    }

    /// Noise that starts at once and dies away, through a resonance.
    private static func burst(
        _ sound: inout [Double], at time: Double, hertz: Double, width: Double, seconds: Double, amplitude: Double,
        _ draw: inout SeededGenerator
    ) {
        var resonator = Resonator(hertz: hertz, width: width)
        var noise = draw
        // As long as the longer of the two takes to fall by 60 dB.
        place(&sound, at: time, seconds: 7 * max(seconds, 1 / (Double.pi * width))) { _, second in
            amplitude * resonator.run(noise.gaussian() * exp(-second / seconds))
        }
        draw = noise
    }

    private static func place(
        _ sound: inout [Double], at time: Double, seconds: Double, _ value: (Double, Double) -> Double
    ) {
        let (first, count) = (Int(time * rate), Int(seconds * rate))
        for index in 0..<count where first + index < sound.count {
            sound[first + index] += value(Double(index) / Double(count), Double(index) / rate)
        }
    }
}

/// A resonance of second order with a gain of about 1 for noise of its own width.
private struct Resonator {
    private let (first, second, gain): (Double, Double, Double)
    private var (last, before) = (0.0, 0.0)

    init(hertz: Double, width: Double) {
        let radius = exp(-Double.pi * width / SpeechNoise.rate)
        first = 2 * radius * cos(2 * Double.pi * min(hertz, 7_800) / SpeechNoise.rate)
        second = -radius * radius
        gain = (1 - radius * radius).squareRoot()
    }

    mutating func run(_ input: Double) -> Double {
        let output = gain * input + first * last + second * before
        (before, last) = (last, output)
        return output
    }
}
