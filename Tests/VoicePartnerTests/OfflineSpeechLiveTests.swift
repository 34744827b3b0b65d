import Foundation
import Synchronization
import Testing
import VoiceEngine

@testable import VoicePartner

/// The real voice and the real recogniser, by themselves.
@Suite("The offline voice and recogniser", .enabled(if: OfflineSpeech.isInstalled, "needs tools/setup --agent"))
struct OfflineSpeechLiveTests {
    private static let sentence = "Once upon a time there was a lighthouse at the end of a long stone pier."

    @Test("a sentence comes in fragments of 20 ms, and no more of it comes once nobody wants more", arguments: [1, 5])
    func stops(after fragments: Int) async throws {
        let count = Mutex(0)
        let voice = try EspeakSynthesiser()
        try await voice.synthesise(Self.sentence) { fragment in
            #expect(fragment.rate == .hertz48000 && abs(fragment.duration / .milliseconds(20) - 1) < 0.1)
            return count.withLock { count in
                count += 1
                return count < fragments
            }
        }
        #expect(count.withLock(\.self) == fragments)
    }

    @Test("a sentence that is cancelled ends")
    func cancelled() async throws {
        // Given a sentence whose first fragment is being played, for longer than anybody waits
        let voice = try EspeakSynthesiser()
        let (fragments, fragment) = AsyncStream.makeStream(of: Void.self)
        let count = Mutex(0)
        let task = Task {
            try await voice.synthesise(Self.sentence) { _ in
                count.withLock { $0 += 1 }
                fragment.yield()
                try? await Task.sleep(for: .seconds(600))
                return true
            }
        }
        for await _ in fragments { break }
        // When
        let begun = ContinuousClock.now
        task.cancel()
        // Then it ends, and no more of it comes
        try await task.value
        #expect(ContinuousClock.now - begun < .seconds(60))
        #expect(count.withLock(\.self) == 1)
    }

    @Test("what was said is recognised by the grammar, and what is silent is nothing")
    func recognised() async throws {
        let recogniser = PocketsphinxRecogniser(.grammar(DialogueCore.grammar))
        try await recogniser.prepare()
        let said = Mutex<[Float]>([])
        try await EspeakSynthesiser(wordsPerMinute: 150).synthesise("tell me a story") { fragment in
            // From 48 to 16 kHz; what lies above 8 kHz of this voice is little.
            said.withLock { $0 += stride(from: 0, to: fragment.samples.count, by: 3).map { fragment.samples[$0] } }
            return true
        }
        let pause = [Float](repeating: 0, count: 8_000)
        func recognise(_ sound: [Float]) async throws -> String {
            let (stream, continuation) = AsyncStream.makeStream(of: [Float].self)
            for start in stride(from: 0, to: sound.count, by: 320) {
                continuation.yield(Array(sound[start..<min(start + 320, sound.count)]))
            }
            continuation.finish()
            return try await recogniser.recognise(stream) { _ in }
        }
        #expect(try await recognise(pause + said.withLock(\.self) + pause) == "tell me a story")
        #expect(try await recognise(pause) == "")
        #expect(try await recognise([]) == "")
    }

    @Test("a voice that nobody knows, and a model that is not there, are told")
    func missing() async throws {
        #expect(throws: PartnerError.self) { try EspeakSynthesiser(voice: "-x") }
        let voice = try EspeakSynthesiser(voice: "nobody")
        await #expect(throws: PartnerError.synthesiserFailed("espeak-ng gave no sound: does it know the voice?")) {
            try await voice.prepare()
        }
        await #expect(throws: PartnerError.notInstalled("the model '/nowhere/en-us'", package: "pocketsphinx-en-us")) {
            try await PocketsphinxRecogniser(.dictation, model: "/nowhere").prepare()
        }
    }
}

/// What `tools/setup --agent` installs.
private enum OfflineSpeech {
    static let isInstalled =
        ["/usr/bin/espeak-ng", "/usr/share/pocketsphinx/model/en-us/cmudict-en-us.dict"].allSatisfy {
            FileManager.default.fileExists(atPath: $0)
        }
}
