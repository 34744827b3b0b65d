import Glibc

/// An endless piece of simple music from a seed: plucked chords, a bass and drums, in a steady beat without any pause.
///
/// For what music does to an echo canceller and speech does not: it goes on all the time, tones repeat themselves, and
/// bass and treble sound together. 48 kHz; reading does not allocate.
package struct SyntheticMusic: Sendable {
    /// Level in dB of the instruments before the final gain; measured over 30 s of seeds 1 to 8.
    private static let nativeLevelDecibels = -14.0
    /// Semitones of four major and minor triads that follow each other in many songs: I, vi, IV, V.
    private static let chords: InlineArray<4, SIMD3<Int>> = [[0, 4, 7], [9, 12, 16], [5, 9, 12], [7, 11, 14]]
    /// Eighth notes in which a chord is played: one bar.
    private static let bar = 8

    private let gain: Float
    private let key: Double
    private let framesPerNote: Int
    private var generator: SeededGenerator
    private var strings = [PluckedString](repeating: PluckedString(), count: 4)
    private var drums = Drums()
    private var note = 0
    private var framesLeft = 0

    /// A piece whose level over a few bars is about `levelDecibels` relative to full scale.
    package init(seed: UInt64, levelDecibels: Double = -26) {
        generator = SeededGenerator(seed: seed, stream: "music")
        key = 130.8 * pow(2, generator.uniform(in: 0...1))
        framesPerNote = Int(RoomAcoustics.sampleRate * generator.uniform(in: 0.2...0.3))
        gain = Float(pow(10, (levelDecibels - Self.nativeLevelDecibels) / 20))
    }

    /// Fills a block with the next frames.
    package mutating func read(into block: inout MutableSpan<Float>) {
        for index in block.indices { block[index] = next() }
    }

    /// The first `frames` frames of a seed's piece, in an array of their own.
    package static func samples(frames: Int, seed: UInt64, levelDecibels: Double = -26) -> [Float] {
        var music = SyntheticMusic(seed: seed, levelDecibels: levelDecibels)
        var samples = [Float](repeating: 0, count: frames)
        var span = samples.mutableSpan
        music.read(into: &span)
        return samples
    }

    private mutating func next() -> Float {
        if framesLeft == 0 {
            beginNote()
            framesLeft = framesPerNote
        }
        framesLeft -= 1
        var sum = drums.next(&generator)
        for index in strings.indices { sum += strings[index].next() }
        return sum * gain
    }

    private mutating func beginNote() {
        let chord = Self.chords[note / Self.bar % Self.chords.count]
        let string = note % 3
        pluck(string, semitones: chord[string] + 12, amplitude: 0.5)
        if note % 4 == 0 { pluck(3, semitones: chord[0] - 12, amplitude: 0.8) }
        drums.strike(eighth: note % Self.bar)
        note += 1
    }

    private mutating func pluck(_ string: Int, semitones: Int, amplitude: Float) {
        strings[string].pluck(
            hertz: key * pow(2, Double(semitones) / 12), amplitude: amplitude, generator: &generator)
    }
}
