import Testing
import VoiceRooms

@testable import VoiceEngine

@Suite("Receipts of interruptions")
struct ReceiptDeskTests {
    private static let (anna, ben) = (ParticipantID(rawValue: 1), ParticipantID(rawValue: 2))

    private static func heard(_ utterance: UInt32, _ milliseconds: Int, isFinal: Bool = false) -> HeardUtterance {
        HeardUtterance(
            utterance: UtteranceID(rawValue: utterance), heard: .milliseconds(milliseconds), bound: .milliseconds(7),
            isFinal: isFinal)
    }

    @Test("Given a talker who is heard here, when it is interrupted, then its receipt comes with the final word, once")
    func talker() {
        var desk = ReceiptDesk()
        desk.take(Self.heard(3, 500), of: Self.anna)
        desk.take(Self.heard(9, 100), of: Self.ben)
        let number = desk.open(Self.anna)
        #expect(desk.takeSettled() == nil)
        desk.take(Self.heard(3, 700), of: Self.anna)
        desk.take(Self.heard(9, 300, isFinal: true), of: Self.ben)
        #expect(desk.takeSettled() == nil)
        desk.take(Self.heard(3, 720, isFinal: true), of: Self.anna)
        let settled = desk.takeSettled()
        #expect(settled?.number == number)
        let receipt = InterruptionReceipt(listener: nil, heard: Self.heard(3, 720, isFinal: true))
        #expect(settled?.receipts == [receipt])
        #expect(desk.takeSettled() == nil)
    }

    @Test(
        "Given two listeners, when this engine is interrupted, then each of them has its receipt, and both are waited for"
    )
    func listeners() {
        var desk = ReceiptDesk()
        desk.take(Self.heard(3, 500), by: Self.anna)
        desk.take(Self.heard(3, 480), by: Self.ben)
        _ = desk.open(nil)
        desk.take(Self.heard(3, 530, isFinal: true), by: Self.ben)
        #expect(desk.takeSettled() == nil)
        desk.take(Self.heard(3, 540, isFinal: true), by: Self.anna)
        let receipts = desk.takeSettled()?.receipts
        #expect(receipts?.map(\.listener) == [Self.anna, Self.ben])
        #expect(receipts?.map(\.heard.heard) == [.milliseconds(540), .milliseconds(530)])
    }

    @Test(
        "Given nobody who has heard anything, or who has told all, when it is interrupted, then nobody is waited for; and whoever leaves is not"
    )
    func nobody() {
        var desk = ReceiptDesk()
        _ = desk.open(nil)
        #expect(desk.takeSettled()?.receipts == [])
        _ = desk.open(Self.anna)
        #expect(desk.takeSettled()?.receipts == [])
        desk.take(Self.heard(3, 500, isFinal: true), by: Self.anna)
        _ = desk.open(nil)
        #expect(desk.takeSettled()?.receipts == [])
        // When one leaves, what it told is its receipt
        desk.take(Self.heard(4, 200), by: Self.ben)
        _ = desk.open(nil)
        desk.leave(Self.ben)
        #expect(desk.takeSettled()?.receipts.map(\.heard) == [Self.heard(4, 200, isFinal: true)])
    }

    @Test("Given a talker whom the room lets nobody interrupt, then what is known so far comes at once, not final")
    func refused() {
        var desk = ReceiptDesk()
        for talker in [Self.anna, Self.ben] { desk.take(Self.heard(3, 500), of: talker) }
        let number = desk.open(Self.anna)
        _ = desk.open(Self.ben)
        desk.refuse(Self.anna)
        let settled = desk.takeSettled()
        #expect(settled?.number == number)
        #expect(settled?.receipts.map(\.heard) == [Self.heard(3, 500)])
        #expect(desk.takeSettled() == nil)
    }

    @Test(
        "Given an interruption whose answer does not come, when the time is over, then what was told last is known, and not final; when another utterance is heard, it was the last"
    )
    func late() {
        var desk = ReceiptDesk()
        desk.take(Self.heard(3, 500), by: Self.anna)
        let number = desk.open(nil)
        #expect(desk.close(number).map(\.heard) == [Self.heard(3, 500)])
        #expect(desk.close(number).isEmpty && desk.takeSettled() == nil)
        let next = desk.open(nil)
        desk.take(Self.heard(4, 10), by: Self.anna)
        let settled = desk.takeSettled()
        #expect(settled?.number == next && settled?.receipts.map(\.heard) == [Self.heard(3, 500, isFinal: true)])
    }

    @Test("Given two interruptions at once, when the stay ends, then both end with what is known")
    func end() {
        var desk = ReceiptDesk()
        desk.take(Self.heard(3, 500), by: Self.anna)
        desk.take(Self.heard(8, 100), of: Self.ben)
        let (first, second) = (desk.open(nil), desk.open(Self.ben))
        desk.endAll()
        let settled = [desk.takeSettled(), desk.takeSettled()]
        #expect(settled.map { $0?.number } == [first, second])
        #expect(settled[0]?.receipts.map(\.heard) == [Self.heard(3, 500, isFinal: true)])
        #expect(settled[1]?.receipts.map(\.heard) == [Self.heard(8, 100, isFinal: true)])
    }
}
