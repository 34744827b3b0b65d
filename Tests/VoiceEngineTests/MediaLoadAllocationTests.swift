import TestCases
import Testing
import VoiceRealtime
import VoiceRooms

@testable import VoiceEngine

/// Takes everything and keeps nothing.
private struct NoStore: RecordingStore {
    func append(_ bytes: Span<UInt8>) {}
    func close() {}
}

/// Also run under RealtimeSanitizer (`tools/test`), on the optimised build: unoptimised Swift allocates by nature.
@Suite("All that is asked of the media thread at once")
struct MediaLoadAllocationTests {
    @Test(
        "Given a recorder, every tap, listeners, a meter, a far end that is spoken into and talkers with sinks, when as many commands come as the ring takes, then the media thread allocates nothing and waits for nothing",
        .enabled(if: areAllocationsCounted, "needs optimised code and the allocation counter"))
    func everything() throws {
        // Given
        var configuration = EngineConfiguration.voiceAgent
        var recording = RecordingConfiguration(folder: "", includesSound: true)
        recording.store = NoStore()
        configuration.recording = recording
        let rig = try PipelineRig(configuration)
        for source in [100, 200] as [UInt32] { try rig.add(source) }
        let agent = try rig.core.openFarEnd(FarEndConfiguration())
        let watched = AnswerWatchOrder(farEnd: agent.id.rawValue, policy: .staged())
        try rig.core.send(.watchAnswers(watched))
        let sinks = try (0..<4).map { try rig.core.openSink(of: ParticipantID(rawValue: $0), rate: .hertz16000) }
        let taps = try SoundPoint.allCases.flatMap { point in
            try [SoundRate.hertz16000, .hertz24000, .hertz48000].map { try rig.core.openTap(at: point, rate: $0) }
        }
        let listeners = try [SinkSource.point(.captured), .point(.mix), .participant(0)].map { source in
            let listener = CountingListener()
            return (listener, try rig.core.listen(to: source, with: listener))
        }
        let music = try rig.core.openStream("music", .music) { _ in }
        let start = RTPStreamStart(
            synchronizationSource: 2, sequenceNumber: 0, timestamp: 0, line: music.id.rawValue)
        try rig.core.send(.publish(start))
        rig.ownSources = [1, 2]
        try rig.core.send(.levelTalkers(TalkerLevelling()))
        let meter = try rig.core.openMeter(every: .milliseconds(50))
        rig.run(periods: RunCost.warmUp)
        let second = [Float](repeating: 0.1, count: 48_000)
        // When
        rig.isWatched = true
        var sent = 0
        for period in 0..<600 {
            if period % 100 == 0 {
                let utterance = UtteranceID(rawValue: UInt32(period))
                _ = agent.offer(second.span, utterance: utterance, isLast: period % 200 == 0)
            }
            _ = music.offer(second.span)
            if period % 150 == 149 { music.interrupt() }
            if period % 250 == 249 { agent.interrupt() }
            var count = 0
            while count < 10_000,
                (try? rig.core.send(.setVolume(gain: Float(period % 3), synchronizationSource: 100))) != nil
            {
                count += 1
            }
            sent += count
            rig.run(periods: 1)
            while rig.core.nextEvent() != nil {}
            rig.core.recorder?.drain()
        }
        rig.isWatched = false
        // Then
        #expect(sent >= 600 * 250 && sent < 600 * 10_000)
        #expect(rig.statistics.media.allocations == 0)
        #expect(rig.core.recorder?.status.lostRuns == 0 && rig.core.recorder?.status.end == nil)
        #expect(rig.core.recorder?.status.bytes ?? 0 > 500_000)
        #expect(rig.statistics.outgoing.first?.remoteInbound.count == 2)
        #expect(rig.statistics.farEnds.count == 2 && rig.statistics.streams.count == 2)
        #expect(listeners.allSatisfy { $0.0.heardFrames > 48_000 })
        withExtendedLifetime((sinks, taps, meter, listeners)) {}
    }
}
