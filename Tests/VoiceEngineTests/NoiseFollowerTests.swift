import TestCases
import Testing

@testable import VoiceEngine

@Suite("A loudspeaker that follows the noise")
struct NoiseFollowerTests {
    @Test("is at its volume in noise and below it by its range in silence, within seconds and without a jump")
    func follows() {
        var follower = NoiseFollower(NoiseFollowing(range: 12))
        func run(_ noise: Float, seconds: Int, isFarEndSounding: Bool = false) {
            for _ in 0..<seconds * 5 {
                let before = follower.decibels
                follower.follow(noise: noise, isFarEndSounding: isFarEndSounding, elapsed: .milliseconds(200))
                #expect(abs(follower.decibels - before) <= 0.61)
            }
        }
        run(-80, seconds: 5)
        #expect(follower.decibels == -12)
        run(-30, seconds: 5)
        #expect(follower.decibels == 0)
        run(-52.5, seconds: 5)
        #expect(abs(follower.decibels + 6) < 0.01)
        // What may be an echo raises nothing
        run(-30, seconds: 5, isFarEndSounding: true)
        #expect(abs(follower.decibels + 6) < 0.01)
    }

    @Test("stays in its bounds whatever the noise is said to be", arguments: cases(1...50 as ClosedRange<UInt64>))
    func bounds(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        var follower = NoiseFollower(NoiseFollowing(range: 9))
        for _ in 0..<500 {
            let noises: [Float?] = [nil, .nan, .infinity, -.infinity, -1_000, 1_000, Float(random.next() % 120) - 120]
            follower.follow(
                noise: noises[Int(random.next() % 7)], isFarEndSounding: random.chance(0.5),
                elapsed: .milliseconds(Int64(random.next() % 2_000)))
            #expect((-9...0).contains(follower.decibels), "seed \(seed)")
        }
    }

    @Test(
        "settings out of their ranges are refused",
        arguments: [
            NoiseFollowing(range: -1), NoiseFollowing(range: 25), NoiseFollowing(quiet: -95),
            NoiseFollowing(quiet: -40, loud: -40), NoiseFollowing(loud: 0), NoiseFollowing(range: .nan),
        ])
    func ranges(following: NoiseFollowing) {
        #expect(throws: EngineError.self) { try following.validate() }
    }
}
