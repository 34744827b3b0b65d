import Glibc
import TestCases
import Testing

@testable import VoiceProcessing

/// Numbers too small for a Float's full precision: a processor takes up to a hundred times longer with one of them.
@Suite("Subnormal numbers")
struct SubnormalTests {
    /// Tells whether subnormal numbers counted as 0 while it processed.
    private final class Probe: EchoStage {
        let traits = EchoTraits(library: "probe")
        let delay = 0
        var flushed: Bool?

        func apply(_ settings: ProcessingSettings) -> Int? { nil }

        func run(
            capture: inout MutableSpan<Float>, reference: Span<Float>, delay: Int, report: inout ProcessingReport
        ) {
            flushed = isFlushing()
        }
    }

    @Test("any stage, a client's too, runs where they count as 0, and its caller does not")
    func seam() throws {
        nonisolated(unsafe) let probe = Probe()
        let processor = try ProcessingBackend.custom("probe") { _, _ in unsafe probe }
            .makeProcessor(sampleRate: 16_000, settings: .bypass)
        var block = [Float](repeating: 0, count: 160)
        let reference = block
        var span = block.mutableSpan
        _ = processor.run(capture: &span, reference: reference.span, delay: 0)
        #expect(unsafe probe.flushed == true)
        #expect(!isFlushing())
    }

    #if arch(x86_64)
        private static let faint = Float.leastNormalMagnitude / 8

        /// After a voice and its echo nothing comes, then less than can be held in full precision.
        @Test(
            "no instruction of a backend, nor of its library, meets one", arguments: cases(ProcessingBackend.builtIn),
            cases([16_000, 48_000]))
        func backends(backend: ProcessingBackend, rate: Int) throws {
            let settings = ProcessingSettings(
                echo: .medium, noise: .high, gain: .conversation, highPass: true, voiceDetection: .moderate)
            let processor = try backend.makeProcessor(sampleRate: rate, settings: settings)
            let frames = rate / 100
            let sound = noise(seconds: 5, rate: rate, seed: 7, level: 0)
            var met = 0
            for number in 0..<500 {
                let level: Float = number < 50 ? 0.1 : number < 300 ? 0 : Self.faint
                let reference = sound[number * frames..<(number + 1) * frames].map { level * $0 }
                var capture = reference
                var span = capture.mutableSpan
                SubnormalOperands.forget()
                _ = processor.run(capture: &span, reference: reference.span, delay: 0)
                if SubnormalOperands.wereMet { met += 1 }
            }
            #expect(met == 0, "blocks of 500 in which an operand was subnormal")
        }
    #endif
}

/// Whether a product that is subnormal comes out as 0.
@inline(never)
private func isFlushing() -> Bool {
    var factors: [Float] = [1e-20, 1e-20]
    factors.reverse()
    return factors[0] * factors[1] == 0
}

#if arch(x86_64)
    /// The processor's own note that an operand was subnormal: bit 1 of MXCSR, which stays set until it is cleared.
    private enum SubnormalOperands {
        private static let mark: UInt32 = 0x2

        static func forget() {
            var environment = fenv_t()
            unsafe fegetenv(&environment)
            environment.__mxcsr &= ~mark
            unsafe fesetenv(&environment)
        }

        static var wereMet: Bool {
            var environment = fenv_t()
            unsafe fegetenv(&environment)
            return environment.__mxcsr & mark != 0
        }
    }
#endif
