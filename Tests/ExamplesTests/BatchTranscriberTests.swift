import Foundation
import Synchronization
import Testing
import VoiceDevices
import VoicePartner
import VoiceSimulation

@testable import BatchTranscriber

@Suite("The batch transcriber")
struct BatchTranscriberTests {
    @Test("gives every sample of the file to the recogniser, in pieces one behind the other")
    func pieces() async throws {
        // Given speech with pauses
        let pause = [Float](repeating: 0, count: 12_000)
        let sound = (0..<4).flatMap { seed in
            SyntheticSpeech.samples(frames: 32_000, seed: UInt64(seed + 1)) + pause
        }
        let path = FileManager.default.temporaryDirectory.appending(path: "transcribe-\(UUID().uuidString).wav").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try AudioFile.write(sound, to: path, sampleRate: 16_000)
        // When it is transcribed
        let counting = CountingRecogniser()
        let said = Mutex<[(Double, Double)]>([])
        let (count, seconds) = try await transcribe(path, by: counting) { start, end, _ in
            said.withLock { $0.append((start, end)) }
        }
        // Then the pieces are the file
        let lines = said.withLock { $0 }
        #expect(count >= 2 && count == lines.count)
        #expect(abs(seconds - Double(sound.count) / 16_000) < 0.011)
        #expect(zip(lines, lines.dropFirst()).allSatisfy { $0.1 == $1.0 })
        #expect(abs(counting.frames.withLock { $0 } - sound.count) <= 160)
    }

    private final class CountingRecogniser: Recogniser {
        let frames = Mutex(0)

        func recognise(
            _ sound: AsyncStream<[Float]>, partial: @escaping @Sendable (String) async -> Void
        ) async throws(PartnerError) -> String {
            for await samples in sound {
                let count = samples.count
                frames.withLock { $0 += count }
            }
            return "words"
        }
    }
}
