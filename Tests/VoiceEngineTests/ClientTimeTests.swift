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

    @Test("and is behind the clock: what its app feeds beside it is heard again at once after an interruption")
    func fed() throws {
        let client = ClientDevice(epoch: MonotonicTime(nanoseconds: 0))
        let core = try EngineCore(modestConfiguration(device: client), eventWake: nil) { _ in }
        let stream = try core.openStream("music", .music) { _ in }
        try core.send(
            .publish(
                RTPStreamStart(synchronizationSource: 9, sequenceNumber: 0, timestamp: 0, line: stream.id.rawValue)))
        var now = MonotonicTime(nanoseconds: 10_000_000_000)
        let silence = [Float](repeating: 0, count: 480)
        let sound = [Float](repeating: 0.1, count: 48_000)
        /// Lets a second pass in which a second is fed; returns how many packets were sent.
        func second() -> Int {
            var sent = 0
            #expect(stream.offer(sound.span) == sound.count)
            for _ in 0..<100 {
                client.sendAudioData(silence)
                _ = core.run(now: now)
                now = now.advanced(byFrames: 480, sampleRate: 48_000)
                while core.link.sending.available > 0 {
                    let packet = unsafe Array(core.link.sending.buffer())
                    core.link.sending.release()
                    if DatagramKind(of: packet.span) == .rtp { sent += 1 }
                }
            }
            return sent
        }
        let before = second()
        #expect(before > 40)
        try core.send(.beginStreamGeneration(1, line: stream.id.rawValue))
        // The media thread has to be told before anything is fed that is not dropped
        _ = core.run(now: now)
        let after = second()
        #expect(after > 40)
        withExtendedLifetime(stream) {}
    }
}

@Suite("A client whose times jitter")
struct JitteryClientTests {
    @Test("leaves no holes in what is sent")
    func sent() throws {
        let client = ClientDevice()
        let core = try EngineCore(modestConfiguration(device: client), eventWake: nil) { _ in }
        try core.send(.publish(RTPStreamStart(synchronizationSource: 1, sequenceNumber: 0, timestamp: 0)))
        let sound = (0..<480).map { Float($0 % 48) / 96 - 0.25 }
        var now = MonotonicTime(nanoseconds: 10_000_000_000)
        for block in 0..<200 {
            let late: Int64 = block % 2 == 0 ? 0 : 11_000_000
            client.sendAudioData(sound, time: MonotonicTime(nanoseconds: now.nanoseconds + late))
            _ = core.run(now: now)
            while core.link.sending.available > 0 { core.link.sending.release() }
            now = now.advanced(byFrames: 480, sampleRate: 48_000)
        }
        // Then the first late block counts as one behind a hole, and no other
        let counts = core.statistics().uplink.sender
        #expect(counts.packetsSent > 80)
        #expect(counts.captureGapFrames <= 528)
    }

    @Test("is late once, whichever way its times go after that; what is lost is counted whole")
    func continuity() {
        var continuity = SoundContinuity()
        func time(_ milliseconds: Double) -> MonotonicTime {
            MonotonicTime(nanoseconds: 1_000_000_000 + Int64(milliseconds * 1e6))
        }
        // Given blocks of 10 ms, of which every third is 3 ms late
        var late: [Int] = []
        for block in 0..<1_000 {
            late.append(continuity.insert(480, at: time(Double(block) * 10 + (block % 3 == 2 ? 3 : 0))))
        }
        #expect(late.filter { $0 > 96 } == [144] && late.allSatisfy { $0 >= 0 })
        // When 20 ms are missing, of which 3 were thought to be before
        let missing = [10_020, 10_030].map { continuity.insert(480, at: time($0)) }
        #expect((800...960).contains(missing[0]) && missing[1] == 0)
        // And when times begin anew 60 ms before
        let anew = [9_980, 9_990].map { continuity.insert(480, at: time($0)) }
        #expect(anew == [-2_880, 0])
    }

    @Test("no drift is a gap", arguments: [-500.0, -50, 50, 500])
    func drift(ppm: Double) {
        var continuity = SoundContinuity()
        for block in 0..<60_000 {
            let time = Double(block) * 1e7 * (1 + ppm * 1e-6)
            let late = continuity.insert(480, at: MonotonicTime(nanoseconds: 1_000_000_000 + Int64(time)))
            if late != 0 {
                Issue.record("\(late) frames at \(block)")
                return
            }
        }
    }
}
