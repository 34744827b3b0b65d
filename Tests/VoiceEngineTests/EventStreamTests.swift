import Testing
import VoiceRooms

@testable import VoiceEngine

@Suite("The engine's events")
struct EventStreamTests {
    private func message(_ number: Int) -> EngineEvent {
        .message(from: ParticipantID(rawValue: UInt32(number)), [])
    }

    private func number(_ event: EngineEvent) -> Int? {
        if case .message(let sender, _) = event { Int(sender.rawValue) } else { nil }
    }

    @Test("every listener gets every event from its beginning on, in order")
    func listeners() async {
        var broadcast: EventBroadcast? = EventBroadcast()
        let first = broadcast?.listen()
        for number in 1...3 { broadcast?.post(message(number)) }
        let second = broadcast?.listen()
        for number in 4...6 { broadcast?.post(message(number)) }
        // When the engine is gone, then the events end
        broadcast = nil
        #expect(await first?.collect(number) == [1, 2, 3, 4, 5, 6])
        #expect(await second?.collect(number) == [4, 5, 6])
        #expect(first?.droppedEvents == 0)
    }

    @Test("a listener that does not listen loses the oldest events, and knows how many; another loses none")
    func bounded() async {
        var broadcast: EventBroadcast? = EventBroadcast()
        let (slow, keen) = (broadcast?.listen(), broadcast?.listen())
        var heard: [Int] = []
        var iterator = keen?.makeAsyncIterator()
        for number in 1...EventStream.capacity + 44 {
            broadcast?.post(message(number))
            if let event = await iterator?.next(), let number = self.number(event) { heard.append(number) }
        }
        broadcast = nil
        #expect(heard == Array(1...EventStream.capacity + 44))
        #expect(keen?.droppedEvents == 0)
        #expect(slow?.droppedEvents == 44)
        #expect(await slow?.collect(number) == Array(45...EventStream.capacity + 44))
    }

    @Test("what the media thread told last is forwarded, also where the forwarder is stopped before it wakes")
    func forwardedToTheEnd() {
        var ring: [MediaEvent] = [.referenceRetimed, .processingRefused, .tooManyStreams(synchronizationSource: 1)]
        var (forwarded, waits) = (0, 0)
        EventForwarder.forward(
            isStopped: { true }, wait: { waits += 1 }, next: { ring.isEmpty ? nil : ring.removeFirst() },
            post: { _ in forwarded += 1 })
        #expect(forwarded == 3)
        #expect(waits == 0)
    }

    @Test("a listener that is gone costs nothing")
    func gone() async {
        let broadcast = EventBroadcast()
        for _ in 1...10 { _ = broadcast.listen() }
        #expect(broadcast.listenerCount == 0)
        let kept = broadcast.listen()
        #expect(broadcast.listenerCount == 1)
        _ = kept
    }
}

extension EventStream {
    fileprivate func collect(_ number: (EngineEvent) -> Int?) async -> [Int] {
        var numbers: [Int] = []
        for await event in self { numbers += number(event).map { [$0] } ?? [] }
        return numbers
    }
}
