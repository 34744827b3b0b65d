import Testing
import VoiceProcessing
import VoiceRealtime

@testable import VoiceEngine

@Suite("Whether an interruption can be trusted")
struct NearEndEvidenceTests {
    /// Feeds two seconds in which near and far end are heard at once, and nothing of either is taken away; returns the
    /// states that were told.
    private func states(cancelsEcho: [Bool]) -> (told: [EchoReadiness.State], last: EchoReadiness.State) {
        var ring = ValueRing<MediaEvent>(minimumCapacity: 256)
        var events = MediaEventOutlet(ring.producer, wake: nil)
        var evidence = NearEndEvidence()
        var report = ProcessingReport(inputLevel: -20, outputLevel: -20)
        (report.referenceLevel, report.cancelledLevel) = (-20, -20)
        for cancels in cancelsEcho {
            for block in 0..<200 {
                evidence.take(
                    report, end: MonotonicTime(nanoseconds: Int64(block) * 10_000_000), cancelsEcho: cancels,
                    events: &events)
            }
        }
        var told: [EchoReadiness.State] = []
        while let event = ring.consumer.pop() {
            if case .echoReadinessChanged(let readiness) = event { told.append(readiness.state) }
        }
        return (told, evidence.readiness.state)
    }

    @Test("without a canceller, as with a headset, it can be from the start, whoever talks meanwhile")
    func headset() {
        let (told, last) = states(cancelsEcho: [false])
        #expect(told == [.ready])
        #expect(last == .ready)
    }

    @Test("without a canceller it cannot any more once the far end is heard to come back all the time")
    func openLoudspeaker() {
        let (told, last) = states(cancelsEcho: [false, false])
        #expect(told == [.ready, .learning])
        #expect(last == .learning)
    }

    @Test("with one it cannot as long as the far end may be what is heard")
    func loudspeaker() {
        let (told, last) = states(cancelsEcho: [true])
        #expect(told == [.learning])
        #expect(last == .learning)
    }

    @Test("what was known of one is not known of the other")
    func change() {
        let (told, last) = states(cancelsEcho: [true, false, true])
        #expect(told == [.learning, .ready, .unknown, .learning])
        #expect(last == .learning)
    }
}
