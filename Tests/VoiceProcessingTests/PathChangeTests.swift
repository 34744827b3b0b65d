import Glibc
import TestCases
import Testing

@testable import VoiceProcessing

@Suite("A path that is another one")
struct PathChangeTests {
    private static let block = 160

    /// Blocks until a change is told, of `limit`; nil if none is.
    private static func blocksUntilTold(
        _ change: inout PathChange, seed: UInt64, share: Float, near: Float, limit: Int
    ) -> Int? {
        var generator = SeededNumbers(seed: seed)
        for number in 1...limit {
            var (dd, yy, dy): (Float, Float, Float) = (0, 0, 0)
            for _ in 0..<block {
                let y = 0.01 * generator.normal()
                let d = share * y + near * 0.01 * generator.normal()
                (dd, yy, dy) = (dd + d * d, yy + y * y, dy + d * y)
            }
            if change.observe(microphone: dd, estimate: yy, product: dy) { return number }
        }
        return nil
    }

    @Test("is not made by a near end, be it 10 dB louder than the echo", arguments: cases([0, 1, 3.2] as [Float]))
    func nearEnd(amplitude: Float) {
        for seed in cases(1...20 as ClosedRange<UInt64>) {
            var change = PathChange()
            let told = Self.blocksUntilTold(&change, seed: seed, share: 1, near: amplitude, limit: 500)
            #expect(told == nil, "seed \(seed), told after \(told ?? 0) blocks")
        }
    }

    @Test(
        "is told within 0.2 s of an estimate that is no part of the microphone any more, and once",
        arguments: cases(1...10))
    func otherPath(seed: Int) throws {
        var change = PathChange()
        #expect(Self.blocksUntilTold(&change, seed: UInt64(seed), share: 1, near: 0.1, limit: 100) == nil)
        let told = Self.blocksUntilTold(&change, seed: UInt64(seed), share: 0, near: 1, limit: 40)
        #expect(try #require(told) <= 20)
        #expect(Self.blocksUntilTold(&change, seed: UInt64(seed), share: 0, near: 1, limit: 30) == nil)
    }

    @Test(
        "is not told by chance of an estimate that a room's noise covers, for a minute",
        arguments: cases([12, 18, 24] as [Float]))
    func coveredEstimate(decibels: Float) {
        // Given sounds whose neighbouring frames are alike, as a room's are
        for seed in cases(1...10 as ClosedRange<UInt64>) {
            var generator = SeededNumbers(seed: seed)
            var change = PathChange()
            var (estimate, room): (Float, Float) = (0, 0)
            let louder = powf(10, decibels / 20)
            // When
            let told = (1...6_000).first { _ in
                var (dd, yy, dy): (Float, Float, Float) = (0, 0, 0)
                for _ in 0..<Self.block {
                    estimate += 0.07 * (generator.normal() - estimate)
                    room += 0.07 * (louder * generator.normal() - room)
                    (dd, yy, dy) = (dd + room * room, yy + estimate * estimate, dy + room * estimate)
                }
                return change.observe(microphone: dd, estimate: yy, product: dy)
            }
            // Then
            #expect(told == nil, "seed \(seed), told after \(told ?? 0) blocks")
        }
    }

    @Test("is not sought while the estimate is silent")
    func silence() {
        var change = PathChange()
        let told = (0..<200).contains { _ in change.observe(microphone: 1, estimate: 1e-9, product: 0) }
        #expect(!told)
    }
}
