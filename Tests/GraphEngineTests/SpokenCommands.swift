import Foundation
import VoiceEngine
import VoicePartner

/// Commands that espeak-ng says, with pauses between.
enum SpokenCommands {
    static let words = ["next", "back", "like"]
    static let grammar = "#JSGF V1.0; grammar commands; public <command> = next | back | like | expand;"

    static let canBeSpoken = FileManager.default.isExecutableFile(atPath: "/usr/bin/espeak-ng")
    static let canBeRecognised = FileManager.default.fileExists(
        atPath: "/usr/share/pocketsphinx/model/en-us/cmudict-en-us.dict")

    /// At 16 kHz: 0.6 s of silence before each word, and a second behind the last.
    static func make() async throws(PartnerError) -> [Float] {
        let synthesiser = try EspeakSynthesiser(wordsPerMinute: 150)
        var sound: [Float] = []
        for word in words {
            let spoken = Spoken()
            try await synthesiser.synthesise(word) { fragment in
                await spoken.take(fragment.samples)
                return true
            }
            sound += [Float](repeating: 0, count: 9_600)
            // Fragments are at 48 kHz and hold nothing above 8 kHz of espeak-ng's 22 kHz but hiss.
            let samples = await spoken.samples
            sound += stride(from: 0, to: samples.count - 2, by: 3).map {
                (samples[$0] + samples[$0 + 1] + samples[$0 + 2]) / 3
            }
        }
        return sound + [Float](repeating: 0, count: 16_000)
    }

    private actor Spoken {
        var samples: [Float] = []
        func take(_ more: [Float]) { samples += more }
    }
}
