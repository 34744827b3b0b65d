import TestCases
import Testing

@testable import VoiceProcessing

@Suite("What the native canceller decides")
struct EchoDecisionsTests {
    private static let rate = 16_000

    /// dBFS over the fifth and sixth second.
    private static func level(_ samples: [Float]) -> Float { rms(samples[(4 * rate)..<(6 * rate)]) }

    @Test("is told with its evidence, and no other backend tells any", arguments: cases([1, 2, 3]))
    func told(seed: Int) throws {
        // Given an echo that comes 100 ms later from the fifth second on
        let far = speech(seconds: 10, rate: Self.rate, seed: UInt64(seed))
        var microphone = echo(of: far, rate: Self.rate, delay: 960)
        microphone.replaceSubrange(
            (5 * Self.rate)..., with: echo(of: far, rate: Self.rate, delay: 2_560)[(5 * Self.rate)...])
        // When
        let decisions = try ProcessorRun(.native, capture: microphone, reference: far).reports.compactMap(
            \.echoDecisions)
        // Then the first move is to where the echo is, the next one follows the jump, and each has its peak
        #expect(decisions.count == 1_000)
        let moves = decisions.filter { $0.move != nil }
        let (first, last) = try (#require(moves.first), #require(moves.last))
        #expect(first.move == .found && (480...800).contains(first.delay), "seed \(seed)")
        #expect(last.move == .jumped || last.move == .moved, "seed \(seed): \(moves)")
        #expect((1_440...1_760).contains(last.delay - first.delay), "seed \(seed)")
        #expect(moves.allSatisfy { $0.prominence > 6 }, "seed \(seed)")
        #expect(decisions[999].unexplained < 0.1, "seed \(seed)")
        #expect(
            try ProcessorRun(.bypass, capture: microphone, reference: far).reports.allSatisfy {
                $0.echoDecisions == nil
            })
    }

    @Test("is the same where the linear stage alone is heard, which takes less away", arguments: cases([1, 2, 3]))
    func linear(seed: Int) throws {
        let far = speech(seconds: 6, rate: Self.rate, seed: UInt64(seed))
        let microphone = sum(
            echo(of: far, rate: Self.rate, delay: 640), noise(seconds: 6, rate: Self.rate, seed: 9, level: -60))
        let whole = try ProcessorRun(.native, capture: microphone, reference: far)
        let linear = try ProcessorRun(.nativeLinear, capture: microphone, reference: far)
        for (one, other) in zip(whole.reports, linear.reports) {
            #expect(one.echoDecisions?.move == other.echoDecisions?.move)
            #expect(one.echoDecisions?.unexplained == other.echoDecisions?.unexplained)
        }
        let (left, alone) = (Self.level(linear.output), Self.level(whole.output))
        #expect(left < Self.level(microphone) - 6, "seed \(seed)")
        // The room's noise is 34 dB above full suppression; the linear stage leaves it.
        #expect(left > -61 && alone < left - 3, "seed \(seed): \(left) and \(alone) dBFS")
    }

    @Test(
        "what is left is told for an echo where the far end is alone and its path a little another, and a talker is not",
        arguments: cases([1, 2, 3]))
    func likelihood(seed: Int) throws {
        // Given an echo with a new reflection, 20 dB below it, from the sixth second on, and a talker from the ninth on
        let far = speech(seconds: 12, rate: Self.rate, seed: UInt64(seed))
        let talker = speech(seconds: 12, rate: Self.rate, seed: UInt64(seed) + 20)
        let reflection = echo(of: far, rate: Self.rate, delay: 1_100).map { 0.1 * $0 }
        var microphone = echo(of: far, rate: Self.rate, delay: 640)
        for frame in (6 * Self.rate)..<(12 * Self.rate) { microphone[frame] += reflection[frame] }
        for frame in (9 * Self.rate)..<(12 * Self.rate) { microphone[frame] += talker[frame] }
        // When
        let reports = try ProcessorRun(.native, capture: microphone, reference: far).reports
        // Then
        var (doubtful, least, most) = (0, Float(1), Float(0))
        for (number, report) in reports.enumerated() {
            let (decisions, likelihood) = try (#require(report.echoDecisions), #require(report.residualEchoLikelihood))
            if (600..<900).contains(number), report.mayContainEcho == true, decisions.farOnly > 0.98,
                decisions.near < 0.35
            {
                least = min(least, likelihood)
                doubtful += 1
            }
            if number >= 900, decisions.near > 0.95 { most = max(most, likelihood) }
        }
        #expect(doubtful > 20 && least > 0.45, "seed \(seed): \(least) in \(doubtful) blocks")
        #expect(most < 0.3, "seed \(seed): \(most)")
    }
}
