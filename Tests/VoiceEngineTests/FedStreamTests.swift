import Testing

@testable import VoiceEngine

@Suite("A stream that an app feeds")
struct FedStreamTests {
    /// An engine that sends such a stream as source 9, and nothing of which has been fed so far.
    private func bench() throws -> (rig: PipelineRig, stream: OutgoingStream) {
        var configuration = EngineConfiguration.voiceChat
        (configuration.backend, configuration.processing) = (.bypass, .bypass)
        let rig = try PipelineRig(configuration)
        let stream = try rig.core.openStream("music", .music) { _ in }
        try rig.core.send(
            .publish(
                RTPStreamStart(synchronizationSource: 9, sequenceNumber: 0, timestamp: 0, line: stream.id.rawValue)))
        return (rig, stream)
    }

    /// So many blocks of 10 ms in which it sounds; the fade behind them takes part of another.
    private func sound(blocks: Int) -> [Float] { [Float](repeating: 0.1, count: 480 * blocks) }

    @Test(
        "Given sound that begins anywhere in a packet, when it ends, then 60 ms of silence follow, and nothing more",
        arguments: [0, 1])
    func rest(block: Int) throws {
        // Given
        let (rig, stream) = try bench()
        rig.run(periods: 20 + 2 * block)
        #expect(rig.numbers[9] == nil)
        // When
        let sound = sound(blocks: 98)
        #expect(stream.offer(sound.span) == sound.count)
        rig.run(periods: 400)
        // Then 50 packets had sound in them
        #expect(rig.numbers[9]?.count == 53)
        withExtendedLifetime(stream) {}
    }

    @Test("Given sound, when it is interrupted, then nothing more is sent before there is other sound")
    func interrupted() throws {
        // Given
        let (rig, stream) = try bench()
        let sound = sound(blocks: 98)
        #expect(stream.offer(sound.span) == sound.count)
        rig.run(periods: 100)
        let before = rig.numbers[9]?.count ?? 0
        #expect(before > 20)
        // When
        try rig.core.send(.beginStreamGeneration(1, line: stream.id.rawValue))
        rig.run(periods: 100)
        // Then
        #expect(rig.numbers[9]?.count == before)
        // And
        #expect(stream.offer(sound.span) == sound.count)
        rig.run(periods: 100)
        #expect(rig.numbers[9]?.count ?? 0 > before + 20)
        withExtendedLifetime(stream) {}
    }
}
