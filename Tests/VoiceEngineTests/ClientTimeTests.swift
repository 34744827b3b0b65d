import Testing
import VoiceRealtime
import VoiceWire

@testable import VoiceEngine

@Suite("A client that gives no times")
struct ClientTimeTests {
    @Test("and is behind the clock is heard again at once after an interruption, and says its next utterance")
    func interrupted() throws {
        // Given a client that has counted its frames from 10 s before what the clock shows
        let client = ClientDevice(epoch: MonotonicTime(nanoseconds: 0))
        let core = try EngineCore(modestConfiguration(device: client), eventWake: nil) { _ in }
        try core.send(.publish(RTPStreamStart(synchronizationSource: 1, sequenceNumber: 0, timestamp: 0)))
        var now = MonotonicTime(nanoseconds: 10_000_000_000)
        let sound = (0..<480).map { Float($0 % 48) / 96 - 0.25 }
        /// Lets a second pass; returns the packets of the second half that have sound.
        func second() -> Int {
            var heard = 0
            for block in 0..<100 {
                client.sendAudioData(sound)
                _ = core.run(now: now)
                now = now.advanced(byFrames: 480, sampleRate: 48_000)
                while core.link.sending.available > 0 {
                    let packet = unsafe Array(core.link.sending.buffer())
                    core.link.sending.release()
                    if DatagramKind(of: packet.span) == .rtp, block >= 60 { heard += 1 }
                }
            }
            return heard
        }
        let before = second()
        // When it is interrupted
        try core.send(.beginGeneration(1))
        let after = second()
        // Then it is heard half a second later as before
        #expect(before > 10 && after == before)
        // And so when it says an utterance, and is interrupted in it, and says another
        try core.send(.beginUtterance(5))
        let said = second()
        try core.send(.beginGeneration(2))
        let cut = second()
        try core.send(.beginUtterance(6))
        let saidNext = second()
        #expect(said == before && cut == 0 && saidNext == before)
    }
}
