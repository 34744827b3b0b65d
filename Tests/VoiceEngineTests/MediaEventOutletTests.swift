import Testing
import VoiceRealtime
import VoiceTurns

@testable import VoiceEngine

@Suite("Events of the media thread")
struct MediaEventOutletTests {
    private let heard = MediaEvent.utteranceHeard(
        HeardNews(
            synchronizationSource: 1, participant: 1,
            progress: UtteranceProgress(utterance: 1, frames: 0, boundFrames: 0), isFinal: true,
            time: MonotonicTime(nanoseconds: 0)))

    @Test("Given members who cause more than fits, then what this engine tells comes, and that something was lost")
    func flooded() {
        var ring = ValueRing<MediaEvent>(minimumCapacity: 256)
        var outlet = MediaEventOutlet(ring.producer, wake: nil)
        for _ in 0..<1_000 { outlet.tell(heard) }
        outlet.tell(.referenceRetimed)
        outlet.tell(.processingRefused)
        var told: [MediaEvent] = []
        while let event = ring.consumer.pop() { told.append(event) }
        let lost = told.compactMap { if case .eventsLost(let count) = $0 { count } else { nil } }
        #expect(lost == [1_000 - 256 + MediaEventOutlet.reserve - 1])
        guard case .referenceRetimed = told[told.count - 2], case .processingRefused = told.last else {
            return #expect(Bool(false), "\(told.suffix(3))")
        }
    }

    @Test("Given nobody who reads, then even those are lost, and told of once there is room")
    func unread() {
        var ring = ValueRing<MediaEvent>(minimumCapacity: 256)
        var outlet = MediaEventOutlet(ring.producer, wake: nil)
        for _ in 0..<300 { outlet.tell(.referenceRetimed) }
        var count = 0
        while ring.consumer.pop() != nil { count += 1 }
        outlet.tell(.processingRefused)
        guard case .eventsLost(let lost) = ring.consumer.pop(), case .processingRefused = ring.consumer.pop() else {
            return #expect(Bool(false))
        }
        #expect(count + lost == 300)
    }
}
