import Testing
import VoiceRooms
import VoiceText

@testable import VoiceEngine

@Suite("Texts in one stay after another")
struct RoomTextsTests {
    private static let first = RejoinSecret(high: 1, low: 1)
    private static let second = RejoinSecret(high: 2, low: 2)
    private static let writer = ParticipantID(rawValue: 1)

    /// What a reader is told of what a writer has to send.
    private static func carry(_ from: inout RoomTexts, to reader: inout RoomTexts, at now: Duration) -> [String] {
        while let letter = from.pollLetter(now: now) {
            reader.handle(letter.bytes, letter.kind, from: writer, now: now)
        }
        var told: [String] = []
        while let event = reader.pollEvent(now: now) {
            if case .text(_, let update) = event { told.append(update.text) }
        }
        return told
    }

    /// A reader who has read five texts of a writer, both in their first stays.
    private static func afterFive() throws -> (writer: RoomTexts, reader: RoomTexts) {
        var (writer, reader) = (RoomTexts(), RoomTexts())
        writer.enter(first, now: .zero)
        reader.enter(first, now: .zero)
        for number in 1...5 {
            try writer.change("t", .replace("\(number)"), isFinal: true, extras: "")
            #expect(carry(&writer, to: &reader, at: .seconds(number)) == ["\(number)"])
        }
        return (writer, reader)
    }

    @Test("a writer who was begun anew with its server, and has its former number, is read from its first text on")
    func writerAnew() throws {
        var (_, reader) = try Self.afterFive()
        reader.enter(Self.second, now: .seconds(10))
        var writer = RoomTexts()
        writer.enter(Self.second, now: .seconds(10))
        try writer.change("t", .replace("hello"), isFinal: true, extras: "")
        #expect(Self.carry(&writer, to: &reader, at: .seconds(12)) == ["hello"])
    }

    @Test("in another stay with the same number a writer sends again what was lost with the one before")
    func lost() throws {
        // Given a text that was lost with the server
        var (writer, reader) = try Self.afterFive()
        try writer.change("t", .replace("lost"), isFinal: true, extras: "")
        while writer.pollLetter(now: .seconds(9)) != nil {}
        // When both are in their next stays, of which one is told more than once
        for _ in 0..<2 { writer.enter(Self.second, now: .seconds(10)) }
        reader.enter(Self.second, now: .seconds(10))
        // Then it is read, once
        #expect(Self.carry(&writer, to: &reader, at: .seconds(12)) == ["lost"])
        writer.enter(Self.second, now: .seconds(13))
        #expect(Self.carry(&writer, to: &reader, at: .seconds(20)).isEmpty)
    }
}
