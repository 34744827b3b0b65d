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

    /// As a negative number where events are missing.
    private func numberOrGap(_ event: EngineEvent) -> Int? {
        if case .eventsDropped(let count) = event { -count } else { number(event) }
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
        // The place where they are missing is marked with how many there were
        #expect(await slow?.collect(numberOrGap) == [-44] + Array(45...EventStream.capacity + 44))
    }

    @Test("what becomes of a talker's stream is told of that talker")
    func streamConditions() {
        let ben = ParticipantID(rawValue: 2)
        let conditions: [StreamCondition] = [.unreachable, .reachable, .stalled, .flowing, .poorLink, .goodLink]
        let told = conditions.compactMap { EngineEvent(.streamCondition(participant: 2, $0)) }
        let expected: [EngineEvent] = [
            .participantUnreachable(ben), .participantReachable(ben), .streamStalled(ben, true),
            .streamStalled(ben, false), .linkQualityChanged(ben, .poor), .linkQualityChanged(ben, .good),
        ]
        // By their text: an event is not Equatable
        #expect(told.map { "\($0)" } == expected.map { "\($0)" })
    }

    @Test("each gap of a listener that is slow again and again is told where it is")
    func gaps() async {
        let broadcast = EventBroadcast()
        let events = broadcast.listen()
        var iterator = events.makeAsyncIterator()
        var told: [Int] = []
        for round in 0..<3 {
            for number in 1...EventStream.capacity + 3 { broadcast.post(message(1_000 * round + number)) }
            for _ in 0...EventStream.capacity {
                if let event = await iterator.next(), let number = numberOrGap(event) { told.append(number) }
            }
        }
        let expected = (0..<3).flatMap { (round: Int) -> [Int] in
            [-3] + (4...EventStream.capacity + 3).map { (number: Int) -> Int in 1_000 * round + number }
        }
        #expect(told == expected)
    }

    @Test("who iterates again goes on where the last iteration ended, a gap included")
    func again() async {
        let broadcast = EventBroadcast()
        let events = broadcast.listen()
        for number in 1...3 { broadcast.post(message(number)) }
        for await event in events where number(event) == 1 { break }
        for wanted in 2...3 {
            for await event in events {
                #expect(numberOrGap(event) == wanted)
                break
            }
        }
        for number in 4...EventStream.capacity + 6 { broadcast.post(message(number)) }
        var told: [Int] = []
        for _ in 1...3 {
            for await event in events {
                if let number = numberOrGap(event) { told.append(number) }
                break
            }
        }
        #expect(told == [-3, 7, 8])
    }

    @Test("what the events amount to is kept: who is heard, how well, and whether the near end speaks")
    func conditions() {
        let broadcast = EventBroadcast()
        let (anna, ben) = (ParticipantID(rawValue: 1), ParticipantID(rawValue: 2))
        broadcast.post(.participantUnreachable(anna))
        broadcast.post(.streamStalled(ben, true))
        broadcast.post(.linkQualityChanged(ben, .poor))
        #expect(!broadcast.conditions.isReachable(anna))
        #expect(broadcast.conditions.isReachable(ben))
        #expect(broadcast.conditions.isStalled(ben))
        #expect(broadcast.conditions.linkQuality(ben) == .poor)
        #expect(broadcast.conditions.linkQuality(anna) == .good)
        // Who comes back, and who is gone, leaves nothing
        broadcast.post(.participantReachable(anna))
        broadcast.post(.participantLeft(ben, nil))
        #expect(broadcast.conditions == LiveConditions())
        broadcast.post(.participantUnreachable(anna))
        broadcast.post(.left(.stopped))
        #expect(broadcast.conditions == LiveConditions())
    }

    @Test("what was told of somebody who had gone by then is not told of who has the number now, nor kept without end")
    func toldLate() {
        let broadcast = EventBroadcast()
        let anna = ParticipantID(rawValue: 1)
        broadcast.post(.participantLeft(anna, nil))
        broadcast.post(.participantUnreachable(anna))
        broadcast.post(.streamStalled(anna, true))
        broadcast.post(.linkQualityChanged(anna, .poor))
        let ben = Participant(RosterEntry(participant: anna, identity: "ben", name: ""))
        broadcast.post(.participantJoined(ben))
        #expect(broadcast.conditions == LiveConditions())
        // Numbers rise
        let numbers = (1...UInt32(RoomProtocol.participantLimit + 1)).map { ParticipantID(rawValue: $0) }
        for number in numbers { broadcast.post(.participantUnreachable(number)) }
        #expect(broadcast.conditions.isReachable(numbers[0]))
        #expect(numbers.dropFirst().allSatisfy { !broadcast.conditions.isReachable($0) })
    }

    @Test("of somebody who comes with the number of one who has gone nothing is taken back")
    func takenBack() async {
        let broadcast = EventBroadcast()
        let events = broadcast.listen()
        var iterator = events.makeAsyncIterator()
        let anna = ParticipantID(rawValue: 1)
        let wanted: [EngineEvent] = [
            .participantUnreachable(anna), .streamStalled(anna, true), .linkQualityChanged(anna, .poor),
            .linkQualityChanged(anna, .good), .participantLeft(anna, nil),
        ]
        for event in wanted { broadcast.post(event) }
        broadcast.post(.participantReachable(anna))
        broadcast.post(.streamStalled(anna, false))
        broadcast.post(.linkQualityChanged(anna, .good))
        broadcast.post(message(1))
        var told: [String] = []
        for _ in 0...wanted.count { if let event = await iterator.next() { told.append("\(event)") } }
        // By their text: an event is not Equatable
        #expect(told == (wanted + [message(1)]).map { "\($0)" })
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
