import TestCases
import Testing

@testable import VoicePlayout

@Suite("The lag at which a sound is most like itself")
struct LagSearchTests {
    /// A sound of each kind: noise, a voice's periods, silence.
    private static let sounds: [@Sendable (Int, inout SeededNumbers) -> Float] = [
        { _, random in Float.random(in: -1...1, using: &random) },
        { index, random in Float(index % 311) / 311 - 0.5 + Float.random(in: -0.01...0.01, using: &random) },
        { _, _ in 0 },
    ]

    /// The same, each lag by itself.
    private static func definition(
        _ sound: borrowing SoundStorage, at start: Int, _ frames: Int, _ direction: Int, _ lags: ClosedRange<Int>
    ) -> (lag: Int, similarity: Float) {
        var best = (lag: lags.lowerBound, similarity: -Float.infinity)
        func consider(_ lag: Int, _ sound: borrowing SoundStorage) {
            let other = start + direction * lag
            let value = Waveform.similarity(sound.span(start..<start + frames), sound.span(other..<other + frames))
            if value > best.similarity { best = (lag, value) }
        }
        for lag in stride(from: lags.lowerBound, through: lags.upperBound, by: 6) { consider(lag, sound) }
        let centre = best.lag
        for lag in max(lags.lowerBound, centre - 5)...min(lags.upperBound, centre + 5) { consider(lag, sound) }
        return best
    }

    @Test("is the same to the bit, however many lags and places are searched at once", arguments: 0..<sounds.count)
    func exact(kind: Int) {
        var random = SeededNumbers(seed: UInt64(kind))
        var sound = SoundStorage(capacity: 4096)
        for index in 0..<sound.capacity { sound[index] = Self.sounds[kind](index, &random) }
        for frames in [384, 379, 120, 7] {
            for direction in [-1, 1] {
                var search = LagSearch(frames: frames)
                for place in 0..<20 {
                    let start = (direction < 0 ? 800 : 0) + place * 96
                    let shortest = [48, 120, 300].randomElement(using: &random) ?? 120
                    let lags = shortest...shortest + Int.random(in: 0...400, using: &random)
                    let found = search.bestLag(in: sound, at: start, direction: direction, lags: lags)
                    let expected = Self.definition(sound, at: start, frames, direction, lags)
                    #expect(
                        found.lag == expected.lag && found.similarity.bitPattern == expected.similarity.bitPattern,
                        "\(frames) frames at \(start), \(direction) by \(lags)")
                }
            }
        }
    }
}
