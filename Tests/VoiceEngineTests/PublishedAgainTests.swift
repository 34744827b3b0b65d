import Testing
import VoiceDevices
import VoiceRealtime

@testable import VoiceEngine

/// Under the same keys a number that was sent is refused: a stream that began anew would be silent for as long as it had
/// been sent before.
@Suite("A stream that is published again goes on with its numbers")
struct PublishedAgainTests {
    private func rig() throws -> PipelineRig {
        var configuration = EngineConfiguration.voiceChat
        (configuration.backend, configuration.processing) = (.bypass, .bypass)
        return try PipelineRig(configuration)
    }

    @Test("the microphone's")
    func microphone() throws {
        let rig = try rig()
        let start = RTPStreamStart(synchronizationSource: 1, sequenceNumber: 0, timestamp: 0)
        rig.run(periods: 200)
        for _ in 0..<2 {
            try rig.core.send(.stopPublishing)
            rig.run(periods: 20)
            let before = rig.numbers[1]?.count ?? 0
            rig.run(periods: 20)
            #expect(rig.numbers[1]?.count == before)
            try rig.core.send(.publish(start))
            rig.run(periods: 200)
            // And where it is confirmed a second time
            try rig.core.send(.publish(start))
            rig.run(periods: 200)
        }
        let numbers = try #require(rig.numbers[1])
        #expect(numbers.count > 200)
        #expect(numbers == Array(0..<UInt16(numbers.count)))
        // Another's begins where it is told to
        try rig.core.send(.publish(RTPStreamStart(synchronizationSource: 2, sequenceNumber: 7, timestamp: 0)))
        rig.run(periods: 20)
        #expect(rig.numbers[2]?.first == 7)
    }

    @Test("an app's, whose place another takes")
    func fed() async throws {
        let rig = try rig()
        for round in 0..<5 {
            let stream = try rig.core.openStream("music", .speech) { _ in }
            rig.run(periods: 2)
            try rig.core.send(
                .publish(
                    RTPStreamStart(
                        synchronizationSource: 9, sequenceNumber: 0, timestamp: 0, line: stream.id.rawValue)))
            #expect(await stream.play([Float](repeating: 0.1, count: 48_000)))
            rig.run(periods: 100)
            // Withdrawn by the room first, or by the app alone
            if round % 2 == 0 { try rig.core.send(.stopStream(line: stream.id.rawValue)) }
            stream.close()
            rig.run(periods: 300)
            _ = rig.events
        }
        let numbers = try #require(rig.numbers[9])
        #expect(numbers.count > 100)
        #expect(numbers == Array(0..<UInt16(numbers.count)))
    }

    @Test("an app's has stopped before its end is told, since whoever is told frees it")
    func end() throws {
        // Given a stream that is sent, and no room for news
        let rendered = ValueRing<RenderedSpan>(minimumCapacity: 1)
        let news = ValueRing<FarEndNews>(minimumCapacity: 1)
        var producer = news.producer
        producer.push(FarEndNews(kind: .room, line: 0))
        var table = FarEndTable(rendered: rendered.consumer, news: producer, wake: nil)
        let line = try FarEndLine(FarEndConfiguration(), encoding: OutgoingStreamConfiguration.speech.encoding)
        table.open(FarEndHandle(line, number: 1))
        table.publish(RTPStreamStart(synchronizationSource: 9, sequenceNumber: 0, timestamp: 0, line: 1))
        let sent = table.fedSources
        #expect(sent[0] == 9)
        // When it is closed
        line.cells.close()
        var recorder: RunRecorder?
        for block in 0..<200 as Range<Int64> {
            table.look(&recorder)
            table.tell(now: MonotonicTime(nanoseconds: block * 10_000_000))
        }
        // Then it is sent no more, though that could not be told
        let left = table.fedSources
        #expect(left[0] == nil)
        withExtendedLifetime(line) {}
    }

    @Test("of four sources it is known, and of a fifth again")
    func sources() {
        var sent = SentStreams()
        for source in 1...6 as ClosedRange<UInt32> {
            for number in [5, 9] as [UInt16] {
                sent.keep(
                    RTPStreamStart(
                        synchronizationSource: source, sequenceNumber: number, timestamp: UInt32(number) * 960))
            }
        }
        #expect((1...6 as ClosedRange<UInt32>).map { sent[$0]?.sequenceNumber } == [nil, nil, 9, 9, 9, 9])
        let next = RTPStreamStart(synchronizationSource: 6, sequenceNumber: 0, timestamp: 0).following(sent[6])
        #expect(next.sequenceNumber == 9 && next.timestamp == 9 * 960)
    }
}
