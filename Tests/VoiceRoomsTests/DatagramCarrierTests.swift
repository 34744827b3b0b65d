import TestCases
import Testing
import VoiceSimulation

@testable import VoiceRooms

struct DatagramCarrierTests {
    /// A sequenced message that carries a number.
    private func numbered(_ number: UInt32) -> RoomMessage {
        .subscribe(StreamID(rawValue: number + 1))
    }

    @Test(arguments: cases(1...16 as ClosedRange<UInt64>))
    func deliversOnceAndInOrder(seed: UInt64) throws {
        // Given a network that loses, doubles and reorders
        var random = SeededNumbers(seed: seed)
        var sender = DatagramCarrier()
        var receiver = DatagramCarrier()
        var up = try SimulatedLink<[UInt8]>(.stormy, seed: seed)
        var down = try SimulatedLink<[UInt8]>(.stormy, seed: ~seed)
        var received: [UInt32] = []
        var queued: UInt32 = 0
        var now: Duration = .zero
        // When 500 messages are sent, as fast as the queue takes them
        while received.count < 500 && now < .seconds(300) {
            while queued < 500, sender.hasRoom {
                sender.send(numbered(queued))
                queued += 1
            }
            while let bytes = sender.nextDatagram(now: now) {
                #expect(bytes.count <= RoomProtocol.datagramLimit)
                up.send(bytes, now: now)
            }
            while let bytes = receiver.nextDatagram(now: now) { down.send(bytes, now: now) }
            now += .milliseconds(1)
            sender.handleTimeout(now: now)
            while let bytes = up.receive(now: now)?.datagram {
                try receiver.receive(bytes.span, now: now)
                // Sometimes nobody takes them yet.
                while random.chance(0.8), let message = receiver.next() {
                    if case .subscribe(let stream) = message { received.append(stream.rawValue - 1) }
                }
            }
            while let bytes = down.receive(now: now)?.datagram { try sender.receive(bytes.span, now: now) }
        }
        // Then all arrive, once, in order
        #expect(received == Array(0..<500), "seed \(seed)")
        #expect(sender.retransmissions > 0)
    }

    @Test func retransmitsWithDoublingUpToItsLimit() {
        var carrier = DatagramCarrier()
        carrier.send(.leave)
        var times: [Duration] = [.zero]
        var now: Duration = .zero
        #expect(carrier.nextDatagram(now: now) != nil)
        while times.count < 7, let due = carrier.nextTimeout {
            now = due
            carrier.handleTimeout(now: now)
            #expect(carrier.nextDatagram(now: now) != nil)
            times.append(now)
        }
        #expect(times == [0, 200, 600, 1400, 2400, 3400, 4400].map { .milliseconds($0) })
    }

    @Test func isBounded() throws {
        // Given a peer that never acknowledges, and one that sends far ahead
        var carrier = DatagramCarrier()
        var taken = 0
        while taken < 1_000, carrier.hasRoom {
            carrier.send(.leave)
            taken += 1
        }
        #expect(taken == DatagramCarrier.windowMessages)
        var datagrams = 0
        while datagrams < 1_000, carrier.nextDatagram(now: .zero) != nil { datagrams += 1 }
        #expect(datagrams == 1, "32 empty messages in flight fit in one datagram")
        let far = stride(from: UInt32.max, to: UInt32.max - 1000, by: -1)
        for sequence in Array(far) + Array(2...1000) {
            try carrier.receive(Self.datagram(1, (sequence, .leave)).span, now: .zero)
            #expect(!carrier.hasNext)
        }
        try carrier.receive(Self.datagram(1, (1, .leave)).span, now: .zero)
        for _ in 0..<1000 { try carrier.receive(Self.datagram(1, (0, .ping(microseconds: 1))).span, now: .zero) }
        var given = 0
        while given < 10_000, carrier.next() != nil { given += 1 }
        #expect(given == DatagramCarrier.windowMessages + DatagramCarrier.unsequencedLimit)
    }

    private static func datagram(_ acknowledged: UInt32, _ frames: (UInt32, RoomMessage)...) -> [UInt8] {
        ControlDatagram(acknowledged: acknowledged, frames: frames.map { .init(sequence: $0.0, message: $0.1) })
            .encoded()
    }

    @Test func anAcknowledgementOfWhatWasNotSentIsAnError() throws {
        var carrier = DatagramCarrier()
        try carrier.receive(Self.datagram(1).span, now: .zero)
        #expect(throws: RoomProtocolError.invalidAcknowledgement) {
            try carrier.receive(Self.datagram(2).span, now: .zero)
        }
        carrier.send(.leave)
        #expect(throws: RoomProtocolError.invalidAcknowledgement) {
            try carrier.receive(Self.datagram(2).span, now: .zero)
        }
        _ = carrier.nextDatagram(now: .zero)
        try carrier.receive(Self.datagram(2).span, now: .milliseconds(30))
        #expect(carrier.isDelivered)
        #expect(carrier.nextTimeout == nil)
        #expect(carrier.estimator.smoothed == .milliseconds(30))
    }
}
