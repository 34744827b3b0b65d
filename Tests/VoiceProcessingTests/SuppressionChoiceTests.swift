import TestCases
import Testing

@testable import VoiceProcessing

@Suite("Automatic echo suppression")
struct SuppressionChoiceTests {
    @Test("is soft until something is known, and as hard as the filter leaves need for")
    func need() {
        var choice = SuppressionChoice()
        choice.observe(filterEnhancement: nil)
        #expect(choice.level == .soft)
        for (enhancement, level) in [
            (25, .soft), (8, .medium), (3, .aggressive), (8, .medium), (25, .soft), (2, .aggressive), (20, .soft),
        ] as [(Float, ProcessingSettings.EchoSuppression)] {
            choice.observe(filterEnhancement: enhancement)
            #expect(choice.level == level, "\(enhancement) dB")
        }
    }

    @Test("does not change to and fro at a border", arguments: cases([5, 10] as [Float]))
    func hysteresis(border: Float) {
        var choice = SuppressionChoice()
        choice.observe(filterEnhancement: border - 0.1)
        let level = choice.level
        for enhancement in [border + 0.1, border - 0.1, border + 1.9] {
            choice.observe(filterEnhancement: enhancement)
            #expect(choice.level == level)
        }
        choice.observe(filterEnhancement: border + 2.1)
        #expect(choice.level != level)
    }

    /// Ten seconds of a far end over a loudspeaker, and a report of each block.
    private static func call(
        settings: ProcessingSettings, loudspeaker: (Float) -> Float = { $0 }
    ) throws -> ProcessorRun {
        let far = speech(seconds: 10, rate: 16_000, seed: 5)
        let played = far.map(loudspeaker)
        let mic = sum(
            echo(of: played, rate: 16_000, delay: 320, reverberation: 0.2, seed: 6),
            noise(seconds: 10, rate: 16_000, seed: 7, level: -75))
        return ProcessorRun(
            try ProcessingBackend.native.makeProcessor(sampleRate: 16_000, settings: settings), capture: mic,
            reference: far)
    }

    @Test(
        "is told: soft over a good loudspeaker, more over one that lets one half of the wave through",
        .enabled(if: isOptimised))
    func told() throws {
        let settings = ProcessingSettings(echo: .auto)
        let good = try Self.call(settings: settings).reports.last
        #expect(good?.echoSuppression == .soft)
        let bad = try Self.call(settings: settings) { max(0, $0) }.reports.last
        #expect(bad?.echoSuppression == .medium || bad?.echoSuppression == .aggressive)
        let asked = try Self.call(settings: ProcessingSettings(echo: .medium)).reports.last
        #expect(asked?.echoSuppression == .medium)
        let off = try Self.call(settings: .bypass).reports.last
        #expect(off != nil && off?.echoSuppression == nil)
    }
}
