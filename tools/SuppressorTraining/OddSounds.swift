import Glibc
import VoiceSimulation

/// What is heard in a room and is nobody's voice: tones with harmonics that glide, hisses, clicks and thuds, one after
/// another with gaps.
enum OddSounds {
    static func samples(frames: Int, decibels: Double, _ draw: inout SeededGenerator) -> [Float] {
        var sound = [Float](repeating: 0, count: frames)
        var at = 0
        while at < frames {
            let end = min(frames, at + Int(48_000 * draw.logNormal(median: 0.15, spread: 0.8)))
            switch Int(draw.uniform() * 5) {
            case 0, 1: ring(&sound, at..<end, &draw)
            case 2: hiss(&sound, at..<end, &draw)
            case 3: knock(&sound, at..<end, &draw)
            default: break
            }
            at = end
        }
        let power = sound.reduce(0) { $0 + Double($1) * Double($1) } / Double(frames)
        let gain = Float(pow(10, decibels / 20) / (power + 1e-12).squareRoot())
        return sound.map { min(0.9, max(-0.9, gain * $0)) }
    }

    /// A tone of up to twenty harmonics of random strengths, that glides and wavers, with some breath.
    private static func ring(_ sound: inout [Float], _ range: Range<Int>, _ draw: inout SeededGenerator) {
        let (pitch, glide) = (exp(draw.uniform(in: log(70.0)...log(1_500))), draw.uniform(in: -0.3...0.3))
        let slope = draw.uniform(in: 0.3...1.5)
        let strengths = (1...20).map { pow(Double($0), -slope) * draw.logNormal(median: 1, spread: 0.7) }
        let breath = max(0, draw.uniform(in: -0.2...0.4))
        let waver = max(0, draw.uniform(in: -0.03...0.06))
        var (phase, off) = (0.0, 0.0)
        for index in range {
            let progress = Double(index - range.lowerBound) / Double(range.count)
            if index.isMultiple(of: 240) { off = 0.8 * off + waver * draw.gaussian() }
            let hertz = pitch * (1 + glide * progress + off)
            phase += 2 * .pi * hertz / 48_000
            var value = breath * draw.gaussian()
            for (number, strength) in strengths.enumerated() where Double(number + 1) * hertz < 20_000 {
                value += strength * sin(Double(number + 1) * phase)
            }
            sound[index] = Float(value * sin(.pi * progress))
        }
    }

    /// Noise through a one-pole filter, low or high.
    private static func hiss(_ sound: inout [Float], _ range: Range<Int>, _ draw: inout SeededGenerator) {
        let (pole, isHigh) = (draw.uniform(in: 0...0.98), draw.chance(0.5))
        var low = 0.0
        for index in range {
            let progress = Double(index - range.lowerBound) / Double(range.count)
            let white = draw.gaussian()
            low += (1 - pole) * (white - low)
            sound[index] = Float((isHigh ? white - low : low) * sin(.pi * progress))
        }
    }

    /// A resonance that is struck and dies away.
    private static func knock(_ sound: inout [Float], _ range: Range<Int>, _ draw: inout SeededGenerator) {
        let (hertz, decay) = (exp(draw.uniform(in: log(80.0)...log(6_000))), draw.uniform(in: 0.002...0.05))
        for index in range {
            let time = Double(index - range.lowerBound) / 48_000
            sound[index] = Float(3 * exp(-time / decay) * sin(2 * .pi * hertz * time))
        }
    }
}
