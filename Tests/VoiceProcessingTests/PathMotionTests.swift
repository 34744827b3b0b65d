import TestCases
import Testing
import VoiceSignal

@testable import VoiceProcessing

@Suite("A path that moves")
struct PathMotionTests {
    private static let block = 160

    /// What is told after five seconds. The main filter is wrong by `lag` and the quick one by its unrest, of an echo
    /// of power 1; both hear the near end.
    private static func motion(lag: Float, unrest: Float, near: Float, seed: UInt64) -> PathMotion {
        var generator = SeededNumbers(seed: seed)
        var motion = PathMotion()
        var error = RealVector(count: block)
        var quick = RealVector(count: block)
        for _ in 0..<500 {
            for index in 0..<block {
                let talk = near * generator.normal()
                error[index] = talk + lag * generator.normal()
                quick[index] = talk + unrest * generator.normal()
            }
            motion.observe(error: error, quickError: quick)
        }
        return motion
    }

    @Test(
        "stays: it is remembered long, whoever talks", arguments: cases([0, 0.3, 3] as [Float]),
        cases([UInt64(1), 2, 3]))
    func stays(near: Float, seed: UInt64) {
        let motion = Self.motion(lag: 0.03, unrest: 0.3, near: near, seed: seed)
        #expect(motion.share < 0.15)
        #expect(motion.memory == PathMotion.longest)
    }

    @Test(
        "moves: it is remembered briefly, whoever talks", arguments: cases([0, 0.3, 1] as [Float]),
        cases([UInt64(1), 2, 3]))
    func moves(near: Float, seed: UInt64) {
        let motion = Self.motion(lag: 0.5, unrest: 0.2, near: near, seed: seed)
        #expect(motion.share > 0.6)
        #expect(abs(motion.memory - PathMotion.shortest) < 1e-6)
    }

    @Test("is not told of by filters that agree, nor in silence")
    func agreement() {
        var motion = PathMotion()
        let silence = RealVector(count: Self.block)
        let error = RealVector(count: Self.block, repeating: 0.1)
        for _ in 0..<100 { motion.observe(error: silence, quickError: silence) }
        #expect(motion.share == 0)
        for _ in 0..<100 { motion.observe(error: error, quickError: error) }
        #expect(motion.share == 0)
    }
}
