import Testing
import VoiceDevices
import VoiceRealtime
import VoiceSimulation

@testable import VoiceEngine

@Suite("Times that no clock can tell")
struct ImpossibleTimeTests {
    @Test(
        "a device that gives one is heard and played on, and traps nothing",
        arguments: [.min, .min + 1, -1, 0, 1 << 59, 1 << 60, .max - 1, .max] as [Int64])
    func device(nanoseconds: Int64) throws {
        // Given an engine over sound of the client's own
        let client = ClientDevice()
        var configuration = EngineConfiguration.voiceChat
        configuration.device = .custom(client)
        let core = try EngineCore(configuration, eventWake: nil) { _ in }
        try core.send(.publish(RTPStreamStart(synchronizationSource: 1, sequenceNumber: 0, timestamp: 0)))
        let begin = MonotonicTime.now()
        var blocks = 0
        var block = [Float](repeating: 0.1, count: 480)
        func move(at told: MonotonicTime?) {
            let now = begin.advanced(byFrames: 480 * blocks, sampleRate: 48_000)
            blocks += 1
            _ = client.sendAudioData(block.span, time: told ?? now)
            var output = block.mutableSpan
            _ = client.pullPlayback(into: &output, time: told ?? now)
            _ = client.sendReferenceData(block.span, time: told ?? now)
            core.run(now: now)
            while core.link.sending.available > 0 { core.link.sending.release() }
        }
        for _ in 0..<20 { move(at: nil) }
        // When a few of its times are wrong, once and for a while
        for count in [1, 3] {
            for _ in 0..<count { move(at: MonotonicTime(nanoseconds: nanoseconds)) }
            for _ in 0..<20 { move(at: nil) }
        }
        // Then what it hears is sent as before
        let before = core.statistics().uplink.sender.packetsSent
        for _ in 0..<100 { move(at: nil) }
        #expect(core.statistics().uplink.sender.packetsSent > before + 40)
    }
}
