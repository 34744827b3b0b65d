import ScriptedRealtime
import TestCases
import Testing

@Suite("In whatever order things happen")
struct DialogPropertyTests {
    /// Nothing of an answer is handed out behind its cancellation, and truncations lie within what was received, in
    /// random orders of the server's messages (late, repeated, made up again), of interruptions and of breaks.
    @Test("no stale sound, no truncation beyond what was received", arguments: cases(UInt64(0)..<50))
    func interleavings(seed: UInt64) throws {
        var numbers = SeededNumbers(seed: seed)
        var staleAfterCancel = 0
        var truncations = 0
        var wrongTruncations = 0
        // 50 seeds of 20 are the 1,000 that are claimed; one of them in a debug build.
        for _ in 0..<20 {
            let run = try RandomDialog(&numbers)
            staleAfterCancel += run.staleAfterCancel
            truncations += run.truncations
            wrongTruncations += run.wrongTruncations
        }
        #expect(staleAfterCancel == 0)
        #expect(wrongTruncations == 0)
        #expect(truncations > 5, "the orders were too tame to show anything")
    }
}
