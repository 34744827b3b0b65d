import Glibc
import Testing
import VoiceSimulation

@testable import VoiceEngine

@Suite("The mix's limiter")
struct MixLimiterTests {
    /// `signal` through a limiter, in blocks of `blockFrames`.
    private func limit(_ signal: [Float], blockFrames: Int, _ limiter: inout MixLimiter) -> [Float] {
        var out: [Float] = []
        for start in stride(from: 0, to: signal.count, by: blockFrames) {
            var block = Array(signal[start..<min(start + blockFrames, signal.count)])
            var span = block.mutableSpan
            limiter.apply(to: &span)
            out += block
        }
        return out
    }

    private func sine(_ amplitude: Float, frames: Int) -> [Float] {
        (0..<frames).map { amplitude * Float(sin(2 * Double.pi * 300 * Double($0) / 48_000)) }
    }

    @Test("one talker passes untouched, bit for bit")
    func transparent() {
        var limiter = MixLimiter()
        let voice = SyntheticSpeech.samples(frames: 48_000, seed: 5, levelDecibels: -20)
        #expect(limit(voice, blockFrames: 240, &limiter) == voice)
        #expect(limiter.gain == 1)
    }

    @Test("what is too loud never passes full scale, and settles below the ceiling", arguments: [48, 240, 480], 1...3)
    func limits(blockFrames: Int, seed: Int) {
        // Given talkers of whom each alone fills the scale
        var generator = SeededGenerator(seed: UInt64(seed))
        let count = 2 + Int(generator.uniform(in: 0...6))
        var mix = [Float](repeating: 0, count: 24_000)
        for _ in 0..<count {
            let voice = SyntheticSpeech.samples(frames: mix.count, seed: generator.next(), levelDecibels: -6)
            for index in mix.indices { mix[index] += voice[index] }
        }
        // When all talk at once
        var limiter = MixLimiter()
        let out = limit(mix, blockFrames: blockFrames, &limiter)
        // Then it is never above full scale
        #expect(out.allSatisfy { abs($0) <= 1 }, "seed \(seed)")
        // And behind a block's first millisecond never above the ceiling
        for (index, value) in out.enumerated() where index % blockFrames >= MixLimiter.attackFrames {
            #expect(abs(value) <= MixLimiter.ceiling * 1.0001, "frame \(index), seed \(seed)")
        }
    }

    @Test("the gain moves without a click, down within a millisecond and back within half a second")
    func movesSmoothly() {
        // Given a tone, louder than full scale for a while
        let signal = sine(0.5, frames: 4_800) + sine(3, frames: 4_800) + sine(0.5, frames: 48_000)
        var limiter = MixLimiter()
        let out = limit(signal, blockFrames: 480, &limiter)
        // Then the gain that was applied, where it can be told, changes by at most a 48th of the whole way from frame
        // to frame
        var last: (index: Int, gain: Float)?
        for index in signal.indices where abs(signal[index]) > 0.1 && abs(out[index]) < 1 {
            let gain = out[index] / signal[index]
            if let last {
                let frames = Float(index - last.index)
                #expect(abs(gain - last.gain) <= frames * 0.7 / Float(MixLimiter.attackFrames) + 1e-4, "frame \(index)")
            }
            last = (index, gain)
        }
        #expect(abs(out[9_000]) < 0.98)
        // And it comes back to 1, exactly
        #expect(limiter.gain == 1)
        #expect(Array(out.suffix(480)) == Array(signal.suffix(480)))
    }

    @Test("silence and nothing at all are harmless")
    func silence() {
        var limiter = MixLimiter()
        #expect(limit([Float](repeating: 0, count: 480), blockFrames: 480, &limiter).allSatisfy { $0 == 0 })
        var empty: [Float] = []
        var span = empty.mutableSpan
        limiter.apply(to: &span)
        #expect(limiter.gain == 1)
    }
}
