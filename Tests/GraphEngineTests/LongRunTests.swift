import Testing

@testable import GraphEngine

@Suite("A graph that runs for long")
struct LongRunTests {
    @Test(
        "Given a chunker's sound of hours, weeks and years, then its times are exact",
        arguments: [(0, 0), (16_001, 62_500), (576_461 * 16_000, 0), (10 * 31_557_600 * 16_000 + 8, 500_000)])
    func chunkTimes(_ frame: Int, _ nanoseconds: Int) {
        #expect(ChunkerNode.time(frame) == .seconds(frame / 16_000) + .nanoseconds(nanoseconds))
    }
}
