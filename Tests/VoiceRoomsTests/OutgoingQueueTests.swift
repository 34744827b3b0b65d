import TestCases
import Testing

@testable import VoiceRooms

struct OutgoingQueueTests {
    private static func stream(_ participant: UInt32) -> StreamAssignment {
        StreamAssignment(stream: StreamID(rawValue: 1000 + participant), synchronizationSource: participant)
    }

    /// Random histories of a room, of which a receiver takes now and then a message: what it knows in the end is what
    /// there is.
    @Test(arguments: cases(1...40 as ClosedRange<UInt64>))
    func whoeverReadsItKnowsTheRoom(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        var queue = OutgoingQueue()
        var truth = RoomRoster()
        var known = RoomRoster()
        var generations: [StreamID: UInt32] = [:]
        var lettersIn: [UInt32: [UInt8]] = [:]
        var lettersOut: [UInt32: [UInt8]] = [:]
        var last: UInt32 = 0
        func read() throws {
            switch queue.popFirst() {
            case .participantJoined(let entry): try known.insert(entry)
            case .participantLeft(let id, _): #expect(known.remove(id) != nil, "seed \(seed)")
            case .published(let id, let stream): try known.publish(stream, by: id)
            case .unpublished(let id, let stream): known.unpublish(stream, by: id)
            case .muteChanged(let stream, let mute): #expect(known.setMute(mute, stream: stream) != nil, "seed \(seed)")
            case .interrupted(_, let stream, let generation):
                #expect(generation > generations[stream, default: 0], "seed \(seed)")
                generations[stream] = generation
            case .message(let sender, _, _, let bytes):
                #expect(known[sender] != nil, "seed \(seed): a message of nobody")
                lettersOut[sender.rawValue, default: []] += bytes
            default: break
            }
        }
        func put(_ message: RoomMessage) {
            let isTaken = queue.append(message)
            #expect(isTaken, "seed \(seed)")
        }
        var interruptions: UInt32 = 0
        for _ in 0..<4000 {
            let present = truth.entries.randomElement(using: &random)
            let isPublished = present?.streams.isEmpty == false
            switch (Int.random(in: 0..<9, using: &random), present) {
            case (0, _) where truth.entries.count < 12:
                last += 1
                let entry = RosterEntry(participant: ParticipantID(rawValue: last), identity: "p\(last)", name: "")
                try truth.insert(entry)
                put(.participantJoined(entry))
            case (1, let entry?):
                truth.remove(entry.participant)
                queue.append(
                    departureOf: entry.participant, .left, streams: [Self.stream(entry.participant.rawValue).stream])
            case (2, let entry?) where !isPublished:
                let stream = PublishedStream(Self.stream(entry.participant.rawValue))
                try truth.publish(stream, by: entry.participant)
                put(.published(entry.participant, stream))
            case (3, let entry?) where isPublished:
                let stream = Self.stream(entry.participant.rawValue).stream
                truth.unpublish(stream, by: entry.participant)
                put(.unpublished(entry.participant, stream))
            case (4, let entry?) where isPublished, (5, let entry?) where isPublished:
                let stream = Self.stream(entry.participant.rawValue).stream
                let mute = MuteState(rawValue: UInt8.random(in: 0...3, using: &random))
                _ = truth.setMute(mute, stream: stream)
                put(.muteChanged(stream, mute))
            case (6, let entry?) where isPublished:
                interruptions += 1
                put(
                    .interrupted(
                        by: entry.participant, Self.stream(entry.participant.rawValue).stream,
                        generation: interruptions))
            case (7, let entry?):
                let byte = UInt8.random(in: 0...255, using: &random)
                if queue.append(.message(sender: entry.participant, destination: nil, bytes: [byte])) {
                    lettersIn[entry.participant.rawValue, default: []].append(byte)
                }
            default: for _ in 0..<Int.random(in: 0...4, using: &random) { try read() }
            }
            #expect(queue.count <= OutgoingQueue.newsLimit + OutgoingQueue.messageLimit)
        }
        while !queue.isEmpty { try read() }
        #expect(known == truth, "seed \(seed)")
        #expect(lettersOut == lettersIn, "seed \(seed)")
    }

    @Test(
        "whoever comes, writes, goes and comes again fills no more than the queue of a receiver that takes nothing",
        arguments: [1, OutgoingQueue.messagesPerSender])
    func comingAndGoing(letters: Int) {
        var queue = OutgoingQueue()
        for id in 1...1_000 as ClosedRange<UInt32> {
            let writer = ParticipantID(rawValue: id)
            _ = queue.append(.participantJoined(RosterEntry(participant: writer, identity: "p\(id)", name: "")))
            for _ in 0..<letters { _ = queue.append(.message(sender: writer, destination: nil, bytes: [1])) }
            queue.append(departureOf: writer, .left, streams: [])
            #expect(queue.count <= 3 * OutgoingQueue.messageLimit)
        }
        // And once they are read there is room again
        while queue.popFirst() != nil {}
        let isTaken = queue.append(.message(sender: ParticipantID(rawValue: 1), destination: nil, bytes: [1]))
        #expect(isTaken)
    }

    @Test func ofAStateOnlyTheLatestWaits() {
        var queue = OutgoingQueue()
        let stream = Self.stream(1)
        for round in 0..<1000 as Range<UInt32> {
            _ = queue.append(.muteChanged(stream.stream, round % 2 == 0 ? .byPublisher : []))
            _ = queue.append(.interrupted(by: ParticipantID(rawValue: 1), stream.stream, generation: round))
        }
        #expect(queue.count == 2)
        #expect(
            queue.takeAll() == [
                .muteChanged(stream.stream, []),
                .interrupted(by: ParticipantID(rawValue: 1), stream.stream, generation: 999),
            ])
    }

    @Test func eachSenderHasItsOwnShare() {
        var queue = OutgoingQueue()
        func send(_ sender: UInt32) -> Bool {
            queue.append(.message(sender: ParticipantID(rawValue: sender), destination: nil, bytes: []))
        }
        // Given one who writes a thousand messages
        let (first, second) = ((0..<1000).count { _ in send(1) }, (0..<19).count { _ in send(2) })
        let others = (0..<1000).count { send(UInt32($0 + 3)) }
        #expect(first == OutgoingQueue.messagesPerSender)
        // Then others can still write, up to what a queue takes, and news come first
        #expect(second == 19)
        #expect(others == OutgoingQueue.messageLimit - first - second)
        _ = queue.append(.unpublished(ParticipantID(rawValue: 9), StreamID(rawValue: 9)))
        #expect(queue.takeAll().first == .unpublished(ParticipantID(rawValue: 9), StreamID(rawValue: 9)))
    }

    @Test(
        "whoever writes all that they may, together, have at most twice their share of a slow receiver",
        arguments: [1, 5, 20])
    func together(others: Int) {
        // Given some who write whenever they may, and one who does so after all of them
        var queue = OutgoingQueue()
        var taken = 0
        func send(_ sender: UInt32) -> Bool {
            queue.append(.message(sender: ParticipantID(rawValue: sender), destination: nil, bytes: []))
        }
        // When the receiver takes one message after another
        let rounds = 2_000
        for _ in 0..<rounds {
            for other in 1...UInt32(others) {
                for _ in 0..<OutgoingQueue.messageLimit where !send(other) { break }
            }
            if send(0) { taken += 1 }
            #expect(queue.count <= OutgoingQueue.messageLimit)
            _ = queue.popFirst()
        }
        // Then that one has at least half of an equal share
        #expect(taken >= rounds / (others + 1) / 2, "\(taken)")
    }

    @Test func refusalsAreBounded() {
        var queue = OutgoingQueue()
        let refusal = RoomMessage.requestRefused(.subscribe, subject: 1, .unknownStream)
        for _ in 0..<2 {
            let taken = (0..<1000).count { _ in queue.append(refusal) }
            #expect(taken == OutgoingQueue.refusalLimit)
            #expect(queue.takeAll().count == OutgoingQueue.refusalLimit)
        }
    }

    @Test func whoComesAndGoesUnseenIsNotToldOf() {
        var queue = OutgoingQueue()
        for number in 1...10_000 as ClosedRange<UInt32> {
            let id = ParticipantID(rawValue: number)
            _ = queue.append(.participantJoined(RosterEntry(participant: id, identity: "", name: "")))
            _ = queue.append(.published(id, PublishedStream(Self.stream(number))))
            queue.append(departureOf: id, .left, streams: [Self.stream(number).stream])
        }
        #expect(queue.isEmpty)
    }

    @Test func whatARosterTellsIsForgottenInABreak() {
        var queue = OutgoingQueue()
        let (writer, stream) = (ParticipantID(rawValue: 1), Self.stream(1).stream)
        let letter = RoomMessage.message(sender: writer, destination: nil, bytes: [1])
        _ = queue.append(.participantJoined(RosterEntry(participant: writer, identity: "", name: "")))
        _ = queue.append(.muteChanged(stream, .byPublisher))
        _ = queue.append(.interrupted(by: writer, stream, generation: 1))
        _ = queue.append(letter)
        queue.append(departureOf: writer, .left, streams: [])
        queue.keepDurable()
        // A later state of what was kept takes its place, one of what was forgotten has none.
        _ = queue.append(.interrupted(by: writer, stream, generation: 2))
        _ = queue.append(.muteChanged(stream, []))
        #expect(
            queue.takeAll() == [
                .interrupted(by: writer, stream, generation: 2), letter, .muteChanged(stream, []),
            ])
    }
}

extension OutgoingQueue {
    fileprivate mutating func takeAll() -> [RoomMessage] {
        var all: [RoomMessage] = []
        while let next = popFirst() { all.append(next) }
        return all
    }
}
