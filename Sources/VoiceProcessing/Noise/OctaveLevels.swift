import VoiceSignal

/// Levels of a block in parts of the voice's frequencies, dBFS.
///
/// A consonant has its power where a room's noise, a road's and a vowel have little; in all it may be below them.
package struct OctaveLevels: BitwiseCopyable, Equatable, Sendable {
    /// Where one ends and the next begins, Hz: octaves but for the first, in which a voice's fundamental moves.
    static let limits = [100.0, 500, 1_000, 2_000, 4_000, 8_000]
    /// How many there are; the others of the eight are silent.
    package static let count = 5

    /// RMS of the block.
    package var level: SIMD8<Float>
    /// That of its noise.
    package var noise: SIMD8<Float>

    /// Levels that are known.
    package init(level: SIMD8<Float>, noise: SIMD8<Float>) {
        self.level = level
        self.noise = noise
    }

    /// Levels of mean squares.
    init(power: SIMD8<Float>, noise: SIMD8<Float>) {
        let silence = SIMD8<Float>(repeating: silenceLevel)
        self.init(level: silence, noise: silence)
        for octave in 0..<Self.count {
            level[octave] = max(silenceLevel, decibelsFullScale(ofPower: power[octave]))
            self.noise[octave] = max(silenceLevel, decibelsFullScale(ofPower: noise[octave]))
        }
    }
}
