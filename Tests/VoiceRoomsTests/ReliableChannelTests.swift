import TestCases
import Testing

@testable import VoiceRooms

struct ReliableChannelTests {
    /// A sequenced message that carries a number.
    private func numbered(_ number: UInt32) -> RoomMessage {
        .subscribe(StreamID(rawValue: number + 1))
    }

    @Test(arguments: cases(1...40 as ClosedRange<UInt64>))
    func deliversOnceAndInOrder(seed: UInt64) throws {
        // Given a network that loses, doubles and reorders
        var random = Seeded(seed)
        var sender = ReliableChannel()
        var receiver = ReliableChannel()
        var flights: [(Duration, Bool, [UInt8])] = []
        var received: [UInt32] = []
        var queued: UInt32 = 0
        var now: Duration = .zero
        // When 500 messages are sent, as fast as the queue takes them
        while received.count < 500 && now < .seconds(300) {
            while queued < 500, sender.enqueue(numbered(queued)) { queued += 1 }
            while let bytes = sender.nextDatagram(now: now) {
                #expect(bytes.count <= RoomProtocol.datagramLimit)
                for _ in 0..<(random.chance(0.2) ? 2 : 1) where !random.chance(0.3) {
                    flights.append((now + .milliseconds(Int64.random(in: 1...80, using: &random)), true, bytes))
                }
            }
            while let bytes = receiver.nextDatagram(now: now) {
                guard !random.chance(0.3) else { continue }
                flights.append((now + .milliseconds(Int64.random(in: 1...80, using: &random)), false, bytes))
            }
            now += .milliseconds(1)
            sender.handleTimeout(now: now)
            for (_, forward, bytes) in flights.filter({ $0.0 <= now }) {
                let datagram = try ControlDatagram(decoding: bytes.span)
                if forward {
                    for message in datagram.frames.flatMap({ receiver.accept($0) }) {
                        if case .subscribe(let stream) = message { received.append(stream.rawValue - 1) }
                    }
                } else {
                    try sender.acknowledge(datagram.acknowledged, now: now)
                }
            }
            flights.removeAll { $0.0 <= now }
        }
        // Then all arrive, once, in order
        #expect(received == Array(0..<500), "seed \(seed)")
        #expect(sender.retransmissions > 0)
    }

    @Test func retransmitsWithDoublingUpToItsLimit() {
        var channel = ReliableChannel()
        _ = channel.enqueue(.leave)
        var times: [Duration] = [.zero]
        var now: Duration = .zero
        #expect(channel.nextDatagram(now: now) != nil)
        while times.count < 7, let due = channel.nextTimeout {
            now = due
            channel.handleTimeout(now: now)
            #expect(channel.nextDatagram(now: now) != nil)
            times.append(now)
        }
        #expect(times == [0, 200, 600, 1400, 2400, 3400, 4400].map { .milliseconds($0) })
    }

    @Test func isBounded() {
        // Given a peer that never acknowledges, and one that sends far ahead
        var channel = ReliableChannel()
        var taken = 0
        while channel.enqueue(.leave) { taken += 1 }
        #expect(taken == ReliableChannel.queueLimit)
        var datagrams = 0
        while channel.nextDatagram(now: .zero) != nil { datagrams += 1 }
        #expect(datagrams == 1, "32 empty messages in flight fit in one datagram")
        for sequence in stride(from: UInt32.max, to: UInt32.max - 1000, by: -1) {
            #expect(channel.accept(.init(sequence: sequence, message: .leave)).isEmpty)
        }
        for sequence in 2...1000 as ClosedRange<UInt32> {
            #expect(channel.accept(.init(sequence: sequence, message: .leave)).isEmpty)
        }
        #expect(channel.accept(.init(sequence: 1, message: .leave)).count == ReliableChannel.windowMessages)
    }

    @Test func anAcknowledgementOfWhatWasNotSentIsAnError() throws {
        var channel = ReliableChannel()
        try channel.acknowledge(1, now: .zero)
        #expect(throws: RoomProtocolError.invalidAcknowledgement) { try channel.acknowledge(2, now: .zero) }
        _ = channel.enqueue(.leave)
        #expect(throws: RoomProtocolError.invalidAcknowledgement) { try channel.acknowledge(2, now: .zero) }
        _ = channel.nextDatagram(now: .zero)
        try channel.acknowledge(2, now: .milliseconds(30))
        #expect(channel.pendingCount == 0)
        #expect(channel.nextTimeout == nil)
        #expect(channel.estimator.smoothed == .milliseconds(30))
    }
}
