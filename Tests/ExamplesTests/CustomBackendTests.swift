import TestCases
import Testing
import VoiceProcessing

@testable import CustomBackend

@Suite("Example: a backend of a client's own")
struct CustomBackendTests {
    @Test(
        "turns the microphone down while the far end is heard, and lets it pass before and after",
        arguments: [16_000, 48_000])
    func gated(rate: Int) throws {
        // Given
        let processor = try ProcessingBackend.halfDuplex.makeProcessor(
            sampleRate: rate, settings: ProcessingSettings(echo: .medium))
        let block = rate / 100
        // When the far end is heard in the second of three seconds.
        var lost: [Float] = []
        var numbers = SeededNumbers(seed: 1)
        for number in 0..<300 {
            let far = numbers.noise(block, amplitude: (100..<200).contains(number) ? 0.3 : 0)
            var microphone = zip(far, numbers.noise(block, amplitude: 0.05)).map { 0.5 * $0 + $1 }
            var span = microphone.mutableSpan
            let report = processor.run(capture: &span, reference: far.span, delay: 0)
            lost.append(report.inputLevel - report.outputLevel)
        }
        // Then
        #expect(lost[..<100].allSatisfy { abs($0) < 0.01 })
        #expect(lost[110..<200].allSatisfy { $0 > 35 })
        #expect(lost[260...].allSatisfy { abs($0) < 0.1 })
        #expect(processor.traits.library == "half duplex")
    }

    @Test("is off where no canceller is wanted")
    func off() throws {
        let processor = try ProcessingBackend.halfDuplex.makeProcessor(sampleRate: 16_000, settings: .bypass)
        var microphone = [Float](repeating: 0.1, count: 160)
        let far = microphone
        var span = microphone.mutableSpan
        _ = processor.run(capture: &span, reference: far.span, delay: 0)
        #expect(microphone == far)
    }
}
