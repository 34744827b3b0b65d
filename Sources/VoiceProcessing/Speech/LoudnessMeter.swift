import CVoiceKernels
import Glibc
import VoiceSignal

/// Loudness as a listener hears it: momentary over 400 ms and short-term over 3 s (ITU-R BS.1770-4, EBU Tech 3341),
/// mono.
///
/// The K-weighting is the two second-order filters of the recommendation; away from 48 kHz they are made from the
/// analogue filters that libebur128 (`ebur128.c`, MIT) found behind its coefficients. One owner; allocates when made.
package struct LoudnessMeter: ~Copyable {
    /// Blocks of 10 ms in the two windows.
    private static let blocks = (momentary: 40, shortTerm: 300)
    /// Loudness of a full-scale square wave's mean square of 1, LUFS (BS.1770-4, equation 2).
    private static let offset: Float = -0.691
    /// What stands for silence, the absolute gate of BS.1770-4, LUFS.
    private static let silence: Float = -70

    private var powers = RealVector(count: LoudnessMeter.blocks.shortTerm)
    private var next = 0
    private var shelf: vk_section
    private var highPass: vk_section

    /// A meter.
    package init(sampleRate: Int) {
        shelf = Self.shelf(Double(sampleRate))
        highPass = Self.highPass(Double(sampleRate))
    }

    /// Forgets what it has heard.
    package mutating func reset() {
        for index in 0..<powers.count { powers[index] = 0 }
        (shelf.z1, shelf.z2, highPass.z1, highPass.z2) = (0, 0, 0, 0)
        next = 0
    }

    /// Loudness over the last 400 ms, LUFS, at least -70.
    package var momentary: Float { loudness(Self.blocks.momentary) }

    /// Loudness over the last 3 s, LUFS, at least -70.
    package var shortTerm: Float { loudness(Self.blocks.shortTerm) }

    /// Takes a block of 10 ms.
    package mutating func take(_ block: Span<Float>) {
        let sum = unsafe block.withUnsafeBufferPointer { samples in
            guard let start = samples.baseAddress else { return 0.0 }
            return unsafe vk_weighted_energy(start, samples.count, &shelf, &highPass)
        }
        powers[next] = Float(sum / Double(block.count))
        next = (next + 1) % powers.count
    }

    private func loudness(_ blocks: Int) -> Float {
        // The newest first, in two stretches: before the place of the next one, and before the end.
        var sum: Float = 0
        let newer = min(blocks, next)
        sum += powers.sum(in: next - newer..<next)
        sum += powers.sum(in: powers.count - (blocks - newer)..<powers.count)
        return max(Self.silence, Self.offset + decibelsFullScale(ofPower: sum / Float(blocks)))
    }

    private static func section(b0: Double, b1: Double, b2: Double, a1: Double, a2: Double) -> vk_section {
        vk_section(b0: b0, c1: b1 - a1 * b0, c2: b2 - a2 * b0, a1: a1, a2: a2, z1: 0, z2: 0)
    }

    private static func shelf(_ rate: Double) -> vk_section {
        let k = tan(.pi * 1681.974450955533 / rate)
        let q = 0.7071752369554196
        let high = pow(10, 3.999843853973347 / 20)
        let band = pow(high, 0.4996667741545416)
        let a0 = 1 + k / q + k * k
        return section(
            b0: (high + band * k / q + k * k) / a0, b1: 2 * (k * k - high) / a0, b2: (high - band * k / q + k * k) / a0,
            a1: 2 * (k * k - 1) / a0, a2: (1 - k / q + k * k) / a0)
    }

    private static func highPass(_ rate: Double) -> vk_section {
        let k = tan(.pi * 38.13547087602444 / rate)
        let q = 0.5003270373238773
        let a0 = 1 + k / q + k * k
        return section(b0: 1, b1: -2, b2: 1, a1: 2 * (k * k - 1) / a0, a2: (1 - k / q + k * k) / a0)
    }
}
