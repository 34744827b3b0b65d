import TestCases
import Testing

@testable import VoiceText

@Suite("Texts of a writer who wishes ill")
struct HostileTextTests {
    @Test(
        "any bytes: nothing traps, and no more is kept than the limits say",
        arguments: cases(1...20 as ClosedRange<UInt64>))
    func bytes(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        var board = TextBoard<Int>()
        var writer = try! TextWriter<Int>("t")
        for number in 0..<2_000 {
            var bytes: [UInt8]
            switch random.below(3) {
            case 0: bytes = random.bytes(count: random.below(60))
            case 1:
                try? writer.change(.append("word\(number)"), isFinal: random.chance(0.1), extras: "{}")
                bytes = writer.pollFrame()?.frame ?? []
                for _ in 0..<random.below(3) where !bytes.isEmpty {
                    bytes[random.below(bytes.count)] = UInt8(random.below(256))
                }
            default:
                bytes =
                    TextFrame(
                        name: Array("n\(random.below(30))".utf8), round: UInt32(random.below(5)),
                        sequence: UInt32(number),
                        keep: random.below(70_000), bytes: random.bytes(count: random.below(900)), completion: nil
                    ).encoded
            }
            board.handle(bytes, from: random.below(3), now: .milliseconds(number))
            while let (_, update) = board.pollUpdate(now: .milliseconds(number)) {
                #expect(
                    update.text.utf8.count <= TextFormat.textLimit && update.extras.utf8.count <= TextFormat.extrasLimit
                )
            }
            while board.pollRequest(now: .milliseconds(number)) != nil {}
        }
        #expect(board.streamCount <= 3 * TextFormat.streamLimit)
        #expect(board.malformed > 0)
    }

    @Test("a text that becomes another of the same meaning is told: its bytes count")
    func equivalent() throws {
        // Given a text and extras whose letter is one character
        var writer = try TextWriter<Int>("t")
        var board = TextBoard<Int>()
        var told: [[UInt8]] = []
        for letter in ["\u{E9}", "e\u{301}", "e\u{301}"] {
            // When it becomes a letter and its accent, and then stays so
            try writer.change(.replace(letter), isFinal: false, extras: letter)
            while let (frame, _) = writer.pollFrame() { board.handle(frame, from: 1, now: .zero) }
            while let (_, update) = board.pollUpdate(now: .zero) {
                told.append(Array(update.text.utf8))
                #expect(update.extras.utf8.elementsEqual(letter.utf8))
            }
        }
        // Then each is told once, as it was written
        #expect(told == [Array("\u{E9}".utf8), Array("e\u{301}".utf8)])
    }

    @Test("who asks for a text again and again is sent it once at a time, and the others are not held up")
    func requests() throws {
        var desk = TextDesk<Int>()
        try desk.change("t", .append(String(repeating: "x", count: 60_000)), isFinal: false, extras: "")
        while let (_, reader) = desk.pollFrame(now: .seconds(100)), reader == nil {}
        var now = Duration.seconds(200)
        var (live, single) = (0, 0)
        for _ in 0..<2_000 {
            now += .milliseconds(5)
            for _ in 0..<10 { desk.handle(request: TextRequest(name: Array("t".utf8)).encoded, from: 7) }
            try desk.change("t", .append("."), isFinal: false, extras: "")
            while let (_, reader) = desk.pollFrame(now: now) { if reader == nil { live += 1 } else { single += 1 } }
        }
        #expect(live + single <= 16 + 400 && abs(live - single) <= 1 && live > 190, "\(live) \(single)")
    }

    @Test("of more writers and readers than a room holds no more is kept, and those stay who write")
    func crowd() throws {
        func frame(_ sequence: Int, of name: UInt8) -> [UInt8] {
            TextFrame(
                name: [name], round: 1, sequence: UInt32(sequence), keep: 10, bytes: [], completion: nil
            ).encoded
        }
        var board = TextBoard<Int>()
        var desk = TextDesk<Int>()
        try desk.change("t", .append("x"), isFinal: false, extras: "")
        // When a server tells of 1,000 who have written, and 1,000 who ask, while one goes on writing
        for writer in 1...1_000 {
            board.handle(frame(writer, of: 65), from: 0, now: .zero)
            for name in [66, 67] as [UInt8] { board.handle(frame(1, of: name), from: writer, now: .zero) }
            desk.handle(request: TextRequest(name: Array("t".utf8)).encoded, from: writer)
        }
        // Then as many are kept and asked as a room holds, that one among them, and as many are sent the text
        #expect(board.streamCount == 1 + 2 * (TextFormat.memberLimit - 1))
        var asked: [Int] = []
        while let (_, writer) = board.pollRequest(now: .seconds(1)) { asked.append(writer) }
        #expect(asked.count == board.streamCount && asked.contains(0))
        var sent = 0
        var now = Duration.zero
        while let next = desk.nextTimeout, sent < 10_000 {
            now = max(now, next)
            while desk.pollFrame(now: now) != nil { sent += 1 }
        }
        #expect(sent == 1 + TextFormat.memberLimit)
    }

    @Test("who changes a long text again and again has so much of it told, and in the end all; nobody else has less")
    func longText() throws {
        // Given a writer with a long text, and one with a short one
        var board = TextBoard<Int>()
        var (long, short) = (try TextWriter<Int>("t"), try TextWriter<Int>("t"))
        try long.change(.append(String(repeating: "x", count: 60_000)), isFinal: false, extras: "")
        while let (frame, _) = long.pollFrame() { board.handle(frame, from: 1, now: .zero) }
        var (bytes, others, last) = (0, 0, 0)
        func write(_ writer: inout TextWriter<Int>, from number: Int, at now: Duration) throws {
            try writer.change(.append("."), isFinal: false, extras: "")
            while let (frame, _) = writer.pollFrame() { board.handle(frame, from: number, now: now) }
        }
        func read(at now: Duration) {
            while let (writer, update) = board.pollUpdate(now: now) {
                guard writer == 1 else {
                    others += 1
                    continue
                }
                last = update.text.utf8.count
                bytes += last
            }
        }
        // When the long one changes a thousand times a second
        for number in 1...4_000 {
            let now = Duration.milliseconds(number)
            try write(&long, from: 1, at: now)
            if number % 100 == 0 { try write(&short, from: 2, at: now) }
            read(at: now)
        }
        // Then four seconds of what is told are, what is told at once, and the last, which may overdraw
        #expect(bytes <= 5 * TextBoard<Int>.toldBytes + 64_000)
        #expect(bytes > 4 * TextBoard<Int>.toldBytes && others == 40)
        try write(&long, from: 1, at: .seconds(4))
        let end = try #require(board.nextTimeout)
        read(at: max(end, .seconds(4)))
        #expect(last == 64_001 && board.nextTimeout == nil)
    }

    @Test("one is asked six times for what it does not send")
    func unanswered() {
        var board = TextBoard<Int>()
        let frame = TextFrame(name: [65], round: 1, sequence: 1, keep: 10, bytes: [], completion: nil)
        board.handle(frame.encoded, from: 1, now: .zero)
        var asked: [Duration] = []
        while let next = board.nextTimeout, asked.count < 100 {
            while board.pollRequest(now: next) != nil { asked.append(next) }
        }
        #expect(asked == [1, 3, 7, 15, 31, 63].map { .seconds($0) })
    }
}
