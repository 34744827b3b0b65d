import GraphEngine
import VoiceEngine
import VoicePartner

/// Commands that espeak-ng says, with pauses between.
enum SpokenCommands {
    static let words = ["next", "back", "like"]
    static let grammar = "#JSGF V1.0; grammar commands; public <command> = next | back | like | expand;"

    /// At 16 kHz: 0.6 s of silence before each word, and a second behind the last. Nil where espeak-ng is not
    /// installed.
    static func make() async throws -> [Float]? {
        let synthesiser = try EspeakSynthesiser(wordsPerMinute: 150)
        var sound: [Float] = []
        for word in words {
            let spoken = Spoken()
            guard await say(word, synthesiser, to: spoken) else { return nil }
            sound += [Float](repeating: 0, count: 9_600)
            // Fragments are at 48 kHz and hold nothing above 8 kHz of espeak-ng's 22 kHz but hiss.
            let samples = await spoken.samples
            sound += stride(from: 0, to: samples.count - 2, by: 3).map {
                (samples[$0] + samples[$0 + 1] + samples[$0 + 2]) / 3
            }
        }
        return sound + [Float](repeating: 0, count: 16_000)
    }

    private static func say(_ word: String, _ synthesiser: EspeakSynthesiser, to spoken: Spoken) async -> Bool {
        do throws(PartnerError) {
            try await synthesiser.synthesise(word) { fragment in
                await spoken.take(fragment.samples)
                return true
            }
            return true
        } catch {
            return error.code != "partner.notInstalled"
        }
    }

    private actor Spoken {
        var samples: [Float] = []
        func take(_ more: [Float]) { samples += more }
    }
}
