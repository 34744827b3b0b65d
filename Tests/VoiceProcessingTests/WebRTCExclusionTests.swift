import Testing

@testable import VoiceProcessing

@Suite("What stops WebRTC's processing")
struct WebRTCExclusionTests {
    /// What may be switched while others process: the canceller and its flags, and the module's own filter.
    private static let settings = [
        ProcessingSettings.bypass, ProcessingSettings(echo: .medium), ProcessingSettings(echo: .aggressive),
        ProcessingSettings(echo: .medium, extendedFilter: true),
        ProcessingSettings(echo: .medium, delayAgnostic: true), ProcessingSettings(highPass: true),
    ]

    @Test("the making of a canceller stops others once, and no change of settings does", arguments: [16_000, 48_000])
    func counted(rate: Int) throws {
        // Given an instance of each kind of settings.
        for initial in Self.settings {
            let processor = try WebRTCProcessor(sampleRate: rate, settings: initial)
            #expect(processor.exclusions <= 1)
            let made = processor.exclusions
            // When everything is switched to and fro.
            for next in Self.settings + Self.settings.reversed() { try processor.apply(next) }
            // Then nobody else was stopped.
            #expect(processor.exclusions == made)
        }
    }
}
