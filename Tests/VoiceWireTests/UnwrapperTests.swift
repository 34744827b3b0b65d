import TestCases
import Testing
import VoiceWire

@Suite("Unwrapping counters")
struct UnwrapperTests {
    @Test(
        "sequence numbers",
        arguments: [
            ([5, 6, 7], [5, 6, 7]),
            // Over the wrap, in order and reordered across it
            ([65534, 65535, 0, 1], [65534, 65535, 65536, 65537]),
            ([65534, 0, 65535, 1], [65534, 65536, 65535, 65537]),
            // Older than the first, across the wrap
            ([0, 65535, 1], [0, -1, 1]),
            // Half the range less one is ahead, half the range is late
            ([0, 32767], [0, 32767]),
            ([0, 32768], [0, -32768]),
            // A late packet does not draw the reference back
            ([40000, 10000, 40001, 7000], [40000, 10000, 40001, 72536]),
            // Duplicates
            ([9, 9, 10, 9], [9, 9, 10, 9]),
        ] as [([UInt16], [Int64])])
    func sequences(numbers: [UInt16], expected: [Int64]) {
        var unwrapper = SequenceUnwrapper()
        #expect(unwrapper.highest == nil)
        #expect(numbers.map { unwrapper.unwrap($0) } == expected)
        #expect(unwrapper.highest == expected.max())
    }

    @Test(
        "timestamps",
        arguments: [
            ([.max - 479, 480, .max - 1439, 960], [4_294_966_816, 4_294_967_776, 4_294_965_856, 4_294_968_256]),
            ([0, .max], [0, -1]),
            ([0, 0x7FFF_FFFF], [0, 0x7FFF_FFFF]),
            ([0, 0x8000_0000], [0, -0x8000_0000]),
        ] as [([UInt32], [Int64])])
    func timestamps(numbers: [UInt32], expected: [Int64]) {
        var unwrapper = TimestampUnwrapper()
        #expect(numbers.map { unwrapper.unwrap($0) } == expected)
        #expect(unwrapper.highest == expected.max())
    }

    @Test("any walk with reordering below half the range is recovered", arguments: UInt64(1)...20)
    func randomWalk(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        var sequences = SequenceUnwrapper()
        var timestamps = TimestampUnwrapper()
        var highest = Int64.random(in: 0...65535, using: &random)
        let first = highest
        for step in 0..<2000 {
            let next = step == 0 ? highest : highest + Int64.random(in: -32768...32767, using: &random)
            let expected = next
            #expect(sequences.unwrap(UInt16(truncatingIfNeeded: next)) == expected, "seed \(seed), step \(step)")
            #expect(timestamps.unwrap(UInt32(truncatingIfNeeded: next)) == expected, "seed \(seed), step \(step)")
            highest = max(highest, next)
        }
        #expect(highest > first + 65536, "seed \(seed): the walk never wrapped")
    }
}
