import TestCases
import Testing

@testable import VoicePlayout

struct ReceivedWindowTests {
    @Test("Within its reach it is a set", arguments: 1...10)
    func isASet(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        var window = ReceivedWindow()
        var known: Set<Int64> = []
        var newest: Int64 = -500
        for _ in 0..<5000 {
            let longest: Int64 = random.next() % 50 == 0 ? 3000 : 40
            let sequence = newest + Int64.random(in: -900...longest, using: &random)
            if newest - sequence >= 1024 { continue }
            newest = max(newest, sequence)
            #expect(window.insert(sequence) == known.insert(sequence).inserted, "\(sequence), seed \(seed)")
        }
    }
}
