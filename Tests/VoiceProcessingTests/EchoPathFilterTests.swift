import TestCases
import Testing
import VoiceSignal

@testable import VoiceProcessing

@Suite("A filter whose reference begins elsewhere")
struct EchoPathFilterTests {
    private static let linear = ReferenceSpectra.linear
    private static let rate = NativeEchoCanceller.sampleRate

    /// Energies of the microphone and of what a stage leaves of it over a second each.
    private static func process(
        _ stage: inout LinearStage, _ transform: inout BlockTransform, far: [Float], microphone: [Float],
        blocks: Range<Int>, isFarAlone: Bool = false
    ) -> (came: Float, left: Float) {
        var (came, left): (Float, Float) = (0, 0)
        var played = RealVector(count: 160)
        var recorded = RealVector(count: 160)
        for block in blocks {
            played.write(far.span.extracting(block * 160..<(block + 1) * 160))
            recorded.write(microphone.span.extracting(block * 160..<(block + 1) * 160))
            stage.take(far: played, microphone: recorded, &transform)
            _ = stage.cancel(isPlaying: true, isFarAlone: isFarAlone, &transform)
            stage.endBlock()
            came += recorded.energy
            left += stage.priorError.energy
        }
        return (came, left)
    }

    @Test(
        "goes on as if nothing had been, by whatever number of partitions that leave the echo in its reach",
        arguments: cases([-3, -1, 1, 4, 8]))
    func shifts(partitions: Int) {
        // Given a filter that has learned an echo of 100 ms, with its reference delayed by 50 ms
        let far = noise(seconds: 4, rate: Self.rate, seed: 5, level: -20)
        let microphone = echo(of: far, rate: Self.rate, delay: 2_400)
        var transform = BlockTransform()
        var stage = LinearStage()
        stage.move(to: 800, &transform)
        let before = Self.process(&stage, &transform, far: far, microphone: microphone, blocks: 0..<300)
        let learned = Self.process(&stage, &transform, far: far, microphone: microphone, blocks: 300..<310)
        #expect(before.left < before.came && learned.left < learned.came / 100)
        // When
        stage.shift(by: partitions, level: 0.1, &transform)
        // Then
        #expect(stage.reference.delay.offset == 800 + 160 * partitions)
        let after = Self.process(&stage, &transform, far: far, microphone: microphone, blocks: 310..<320)
        #expect(after.left < 2 * learned.left + after.came / 1_000, "\(after) after \(learned)")
    }
}
