import Glibc
import Testing

@testable import VoiceProcessing

@Suite("What a filter usually leaves")
struct UsualErrorTests {
    /// Two seconds of shares that go up and down by `swing` dB about `share`.
    private static func learned(share: Float, swing: Float = 0) -> UsualError {
        var usual = UsualError()
        for block in 0..<200 {
            let factor = Float(block.isMultiple(of: 2) ? 1 : -1) * swing / 20
            usual.observe(unexplained: share * powf(10, factor))
        }
        return usual
    }

    @Test(
        "a loudspeaker that leaves much leaves much more now and then, and its path is no other",
        arguments: [0.1, 0.3] as [Float])
    func distorted(share: Float) {
        let usual = Self.learned(share: share, swing: 6)
        #expect(!usual.isAnotherPath(unexplained: 4 * share))
    }

    @Test(
        "where little is left, a tenth of the echo is another path's, and less is not",
        arguments: [0.003, 0.01] as [Float])
    func moved(share: Float) {
        let usual = Self.learned(share: share)
        #expect(usual.isAnotherPath(unexplained: 0.1))
        #expect(!usual.isAnotherPath(unexplained: 5 * share))
    }

    @Test("nothing is usual of a path that has just begun")
    func new() {
        var usual = UsualError()
        #expect(!usual.isAnotherPath(unexplained: 1))
        for _ in 0..<200 { usual.observe(unexplained: 0.01) }
        #expect(usual.isAnotherPath(unexplained: 1))
        usual.restart()
        #expect(!usual.isAnotherPath(unexplained: 1))
    }
}
