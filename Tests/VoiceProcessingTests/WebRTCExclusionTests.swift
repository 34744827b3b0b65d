import CExclusionProbe
import Glibc
import Testing

@testable import VoiceProcessing

@Suite("What stops WebRTC's processing")
struct WebRTCExclusionTests {
    /// What may be switched while others process: the canceller, and the module's own filter.
    private static let settings = [
        ProcessingSettings.bypass, ProcessingSettings(echo: .medium), ProcessingSettings(echo: .aggressive),
        ProcessingSettings(highPass: true),
    ]

    @Test("the making of a canceller stops others once, and no change of settings does", arguments: [16_000, 48_000])
    func counted(rate: Int) throws {
        // Given an instance of each kind of settings.
        for initial in Self.settings {
            let stage = try WebRTCStage(sampleRate: rate, settings: initial)
            let made = stage.exclusions
            #expect(made == (WebRTCStage.libraryTraits.library == "WebRTC 0.3" ? 1 : 0))
            // When everything is switched to and fro.
            for next in Self.settings + Self.settings.reversed() { _ = try stage.apply(next) }
            // Then nobody else was stopped.
            #expect(stage.exclusions == made)
        }
    }

    @Test(
        "who waits for it lends its priority: a real-time thread does not wait for a thread that has none",
        .enabled(if: unsafe access("/proc/self/syscall", R_OK) == 0, "the kernel tells what threads wait for"))
    func inherits() {
        #expect(exclusion_processing_wait() == EXCLUSION_INHERITED)
        #expect(exclusion_alone_wait() == EXCLUSION_INHERITED)
    }
}
