import Testing

@testable import VoiceRooms

struct OutboxTests {
    private static func letter(_ number: UInt8) -> RoomMessage { .send(destination: nil, bytes: [number]) }

    private static func takeAll(_ outbox: inout Outbox) -> [RoomMessage] {
        var all: [RoomMessage] = []
        while let next = outbox.next() { all.append(next) }
        return all
    }

    @Test func whatWasNotHandledIsSentAgainAfterWhatOpensTheStay() throws {
        var outbox = Outbox()
        for number in 1...4 as ClosedRange<UInt8> { _ = outbox.append(Self.letter(number)) }
        #expect(Self.takeAll(&outbox) == (1...4).map(Self.letter))
        try outbox.takeHandled(1)
        _ = outbox.append(Self.letter(5))
        outbox.interrupt()
        #expect(outbox.canResume(at: 2) && outbox.canResume(at: 4))
        #expect(!outbox.canResume(at: 0) && !outbox.canResume(at: 5))
        outbox.resume(at: 2, opening: [.leave])
        #expect(Self.takeAll(&outbox) == [.leave] + [3, 4, 5].map(Self.letter))
        try outbox.takeHandled(5)
        #expect(outbox.count == 0)
    }

    @Test func whatWasNotSentCannotHaveBeenHandled() {
        var outbox = Outbox()
        _ = outbox.append(Self.letter(1))
        #expect(throws: RoomProtocolError.invalidValue) { try outbox.takeHandled(1) }
        _ = outbox.next()
        #expect(throws: RoomProtocolError.invalidValue) { try outbox.takeHandled(2) }
        #expect(throws: RoomProtocolError.invalidValue) { try outbox.takeHandled(.max) }
        #expect(throws: Never.self) { try outbox.takeHandled(1) }
        #expect(throws: RoomProtocolError.invalidValue) { try outbox.takeHandled(0) }
    }

    @Test func theLogIsBoundedAndTwoFullOnesDoNotWaitForEachOther() throws {
        var outbox = Outbox()
        for number in 0..<200 as Range<UInt8> { _ = outbox.append(Self.letter(number)) }
        #expect(Self.takeAll(&outbox).count == Outbox.logLimit)
        // What the other end waits for goes out all the same
        for number in 0..<UInt8(Outbox.untoldLimit) { outbox.countHandled(Self.letter(number)) }
        #expect(Self.takeAll(&outbox) == [.handled(count: Outbox.untoldLimit)])
        outbox.countHandled(Self.letter(0))
        #expect(outbox.next() == nil)
        outbox.tellHandled()
        #expect(outbox.next() == .handled(count: Outbox.untoldLimit + 1))
        try outbox.takeHandled(10)
        #expect(Self.takeAll(&outbox).count == 10)
    }
}
