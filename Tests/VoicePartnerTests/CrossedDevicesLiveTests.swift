import Testing
import VoiceEngine

@testable import VoicePartner

@Suite("Two engines whose devices hear each other", .timeLimit(.minutes(2)))
struct CrossedDevicesLiveTests {
    private static func engine(_ device: any AudioDevice) -> VoiceEngine {
        VoiceEngine(EngineConfiguration(device: .custom(device), backend: .bypass, processing: .bypass))
    }

    /// How loud the loudest of what is heard is, until it is loud or so many blocks have passed.
    private static func peak(_ farEnd: LocalFarEnd, blocks: Int = .max) async -> Float {
        var (peak, count) = (Float(0), 0)
        for await frame in farEnd.nearEnd(.milliseconds20) {
            peak = max(peak, frame.samples.map(abs).max() ?? 0)
            count += 1
            if peak > 0.2 || count == blocks { break }
        }
        return peak
    }

    @Test("what one plays the other's microphone hears, and a device may be stopped and started again")
    func crossed() async throws {
        let devices = try CrossedDevices()
        let (first, second) = (Self.engine(devices.conversation), Self.engine(devices.room))
        let hum = (0..<24_000).map { ($0 / 40).isMultiple(of: 2) ? Float(0.4) : -0.4 }
        for _ in 0..<2 {
            _ = try await first.start()
            _ = try await second.start()
            let (speaking, hearing) = (try await first.openFarEnd(), try await second.openFarEnd())
            let heard = Task { await Self.peak(hearing) }
            let talk = Task {
                while !Task.isCancelled { _ = await speaking.play(hum, rate: .hertz24000, utterance: 1) }
            }
            #expect(await heard.value > 0.2)
            talk.cancel()
            #expect(await Self.peak(speaking, blocks: 5) < 0.01)
            await first.stop()
            await second.stop()
        }
        _ = try await first.start()
        let other = Self.engine(devices.conversation)
        await #expect(throws: EngineError.self) { try await other.start() }
        await first.stop()
    }
}
