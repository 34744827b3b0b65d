import TestCases
import Testing

@testable import VoiceProcessing

/// Echoes that come to where the reference can hardly be delayed: no later than it, and no earlier than it was played.
@Suite("The reference's delay near its limits")
struct ReferenceDelayTests {
    private static let rate = 16_000

    /// A far end, and its echo so many frames later, from 5 s on at another distance.
    private static func jump(from early: Int, to late: Int, seed: Int) -> (microphone: [Float], far: [Float]) {
        let far = speech(seconds: 9, rate: rate, seed: UInt64(seed))
        let before = echo(of: far, rate: rate, delay: early)
        let after = echo(of: far, rate: rate, delay: late)
        let hiss = noise(seconds: 9, rate: rate, seed: 9, level: -75)
        return (sum(Array(before[..<(5 * rate)]) + Array(after[(5 * rate)...]), hiss), far)
    }

    @Test(
        "an echo that jumps to before the reference is followed there",
        arguments: cases([(448, 64), (400, 20), (470, 0), (448, 120)]), cases([601, 602, 603]))
    func jumpBefore(delays: (from: Int, to: Int), seed: Int) throws {
        // Given a reference that is delayed by less than the lead, so that less is no other place to move it to
        let (microphone, far) = Self.jump(from: delays.from, to: delays.to, seed: seed)
        // When
        let run = try ProcessorRun(.nativeLinear, capture: microphone, reference: far)
        // Then the echo is found where it is, and the linear stage cancels it as it does any
        let delay = try #require(run.reports.last?.echoDelay)
        #expect(abs(delay - delays.to) < 16, "seed \(seed)")
        let range = (7 * Self.rate)..<microphone.count
        let removed = rms(microphone[range]) - rms(run.output[range])
        #expect(removed > 14, "\(removed) dB: seed \(seed)")
    }

    @Test(
        "and so it is behind the cancellers that do not search",
        arguments: cases([ProcessingBackend.webRTC, .speexDSP]), cases([601, 602, 603]))
    func jumpBeforeChain(backend: ProcessingBackend, seed: Int) throws {
        let (microphone, far) = Self.jump(from: 218, to: 16, seed: seed)
        let chain = try ProcessingChain(
            sampleRate: Self.rate, settings: ProcessingSettings(echo: .soft), backend: backend)
        let run = ChainRun(chain, capture: microphone, reference: far)
        let range = (7 * Self.rate)..<microphone.count
        let removed = rms(microphone[range]) - rms(run.output[range])
        #expect(run.reports.last?.retimings == 2, "seed \(seed)")
        #expect(removed > 10, "\(removed) dB: seed \(seed)")
    }

    @Test("a drift is followed to there and on", arguments: cases(601...606))
    func drift(seed: Int) throws {
        // Given an echo that comes ever earlier, by 8 frames a second, from 25 ms on: some seconds after the drift is
        // found there is nothing later to interpolate the reference from, though the echo is 20 ms behind it
        let far = speech(seconds: 24, rate: Self.rate, seed: UInt64(seed))
        let microphone = sum(
            drifting(echo(of: far, rate: Self.rate, delay: 400), ppm: 500),
            noise(seconds: 24, rate: Self.rate, seed: 9, level: -75))
        // When
        let run = try ProcessorRun(.nativeLinear, capture: microphone, reference: far)
        // Then it is cancelled as an echo is that is far from there
        let range = (16 * Self.rate)..<microphone.count
        let removed = rms(microphone[range]) - rms(run.output[range])
        #expect(removed > 25, "\(removed) dB: seed \(seed)")
        // And the filter that begins later for it goes on with what it knows.
        let shift = try #require(run.reports.firstIndex { $0.echoDecisions?.move == .shifted })
        let unexplained = run.reports[(shift - 1)..<(shift + 30)].compactMap { $0.echoDecisions?.unexplained }
        #expect((unexplained.max() ?? 1) < 0.15, "seed \(seed)")
    }

    @Test("it is never negative, and rests where nothing can be interpolated", arguments: cases(1...20))
    func limits(seed: Int) {
        var numbers = SeededNumbers(seed: UInt64(seed))
        var delay = ReferenceDelay()
        for _ in 0..<10_000 {
            switch numbers.below(400) {
            case 0: delay.move(to: numbers.below(30_000) - 10_000)
            case 1: delay.move(to: numbers.below(40))
            case 2: delay.move(by: min(2, delay.blocks(towards: numbers.below(9_000))))
            default:
                let drift = (numbers.uniform() - 0.6) * 1e-3
                delay.adjust(by: numbers.uniform() - 0.5, drift: drift)
                delay.advance()
            }
            #expect(ReferenceDelay.offsets.contains(delay.offset), "seed \(seed)")
            #expect(abs(delay.fraction) < 2, "seed \(seed)")
            #expect(delay.canFollow || delay.isWhole, "seed \(seed)")
        }
    }
}
