import Foundation
import Synchronization
import Testing

@testable import VoiceEngine

@Suite("A recording of an engine that runs in real time")
struct RecordingLiveTests {
    /// A disk that hangs from its second write on, until it is let go.
    private final class HangingStore: RecordingStore {
        private let gate = DispatchSemaphore(value: 0)
        private let hangs = Atomic<Bool>(false)

        var isHanging: Bool { hangs.load(ordering: .acquiring) }

        func letGo() { for _ in 0..<1_000 { gate.signal() } }

        func append(_ bytes: Span<UInt8>) throws(RecordingStoreError) {
            // The settings are written before anything runs
            guard bytes.count > 1_000 else { return }
            hangs.store(true, ordering: .releasing)
            gate.wait()
            hangs.store(false, ordering: .releasing)
        }

        func close() {}
    }

    @Test(
        "Given an engine on threads of its own, when its recording is run again, then every stage is the same to the bit, readings of the clock and all"
    )
    func isExact() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "live-\(UUID().uuidString)").path()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var configuration = modestConfiguration(device: try talkingCard())
        configuration.backend = .native
        configuration.processing = .voiceAgent
        configuration.playoutMargin = PlayoutMargin()
        configuration.recording = RecordingConfiguration(folder: folder, includesSound: true)
        let engine = VoiceEngine(configuration)
        try await engine.start()
        let farEnd = try await engine.openFarEnd()
        let tone = (0..<96_000).map { 0.1 * sinf(0.05 * Float($0)) }
        let playing = Task { await farEnd.play(tone, rate: .hertz48000, utterance: 1) }
        try await Task.sleep(for: .seconds(1))
        try await engine.setMuted(true)
        farEnd.interrupt()
        _ = await playing.value
        try await Task.sleep(for: .milliseconds(500))
        await engine.stop()
        let status = try #require(await engine.recording)
        #expect(status.lostRuns == 0 && status.end == nil && status.bytes > 100_000, "\(status)")
        let report = try Replay(folder: folder).run()
        #expect(report.isExact && report.stages.count >= 4, "\(report)")
    }

    @Test("Given a disk that hangs, when the engine is stopped, then it stops, and goes on sounding until then")
    func hangs() async throws {
        let store = HangingStore()
        defer { store.letGo() }
        var configuration = modestConfiguration(device: try talkingCard())
        configuration.recording = RecordingConfiguration(folder: "unused", includesSound: true)
        configuration.recording?.store = store
        let engine = VoiceEngine(configuration)
        try await engine.start()
        #expect(try await eventually { store.isHanging })
        // A second's runs
        let enough = try await engine.statistics().media.ticks + 100
        #expect(try await eventually { try await engine.statistics().media.ticks > enough })
        let status = try #require(await engine.recording)
        #expect(status.end == nil)
        await engine.stop()
        // It has not waited for the disk, of which nothing more is told
        #expect(store.isHanging)
        #expect(await engine.recording == status)
    }
}
