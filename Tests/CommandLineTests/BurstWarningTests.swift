import Testing
import VoiceRooms

@testable import duplex

@Suite("A kernel that keeps little of a burst")
struct BurstWarningTests {
    private static let usual = 212_992

    private static func come(_ number: Int) -> RoomDirectoryEvent {
        .joined(ParticipantID(rawValue: UInt32(number)), identity: "p\(number)", room: "r")
    }

    private static func go(_ number: Int) -> RoomDirectoryEvent {
        .left(ParticipantID(rawValue: UInt32(number)), .left)
    }

    @Test("is told of once, when so many are there that it matters, with what to do")
    func crowd() throws {
        var warning = BurstWarning(kept: Self.usual, wanted: 4_194_304)
        // Given fourteen, of whom some are others than before
        for number in 1...14 { #expect(warning.handle(Self.come(number)) == nil) }
        for number in 1...5 { #expect(warning.handle(Self.go(number)) == nil) }
        for number in 21...25 { #expect(warning.handle(Self.come(number)) == nil) }
        #expect(warning.handle(.roomOpened("s")) == nil)
        // When one more comes
        let note = warning.handle(Self.come(30))
        let told = try #require(note)
        // Then it is told, and not again
        #expect(told.hasPrefix("note: with 15 participants the kernel keeps some 245 ms"), "\(told)")
        #expect(told.contains("'sysctl -w net.core.rmem_max=4194304' as root"))
        #expect(warning.handle(Self.go(30)) == nil && warning.handle(Self.come(31)) == nil)
    }

    @Test(
        "is no matter where the kernel keeps all, and one of later where it keeps more",
        arguments: [nil, 1 << 20] as [Int?])
    func more(kept: Int?) {
        var warning = BurstWarning(kept: kept, wanted: 4_194_304)
        for number in 1...72 { #expect(warning.handle(Self.come(number)) == nil) }
        #expect((warning.handle(Self.come(73)) == nil) == (kept == nil))
    }
}
