import Testing

@testable import VoiceText

@Suite("Texts, from their writer to their readers")
struct TextStreamTests {
    @Test("what a recogniser corrects and what a model appends")
    func stories() throws {
        var room = TextRoom()
        room.join(1)
        // When
        try room.desk.change("heard", .replace("I wood"), isFinal: false, extras: "")
        room.settle()
        try room.desk.change("heard", .replace("I would like"), isFinal: true, extras: "{\"ms\":900}")
        try room.desk.change("answer", .append("Tea"), isFinal: false, extras: "")
        try room.desk.change("answer", .append(", of course."), isFinal: false, extras: "")
        room.settle()
        // Then
        #expect(
            room.heard[1]?["heard"]
                == TextUpdate(stream: "heard", round: 1, text: "I would like", isFinal: true, extras: "{\"ms\":900}"))
        #expect(
            room.heard[1]?["answer"]
                == TextUpdate(stream: "answer", round: 1, text: "Tea, of course.", isFinal: false, extras: ""))
        // And after a final text the next begins
        try room.desk.change("heard", .append("And"), isFinal: false, extras: "")
        room.settle()
        #expect(room.heard[1]?["heard"]?.round == 2 && room.heard[1]?["heard"]?.text == "And")
        // And as after one that was given up
        room.desk.abandon("heard")
        try room.desk.change("heard", .append("But"), isFinal: false, extras: "")
        room.settle()
        #expect(room.heard[1]?["heard"]?.round == 3 && room.heard[1]?["heard"]?.text == "But")
    }

    @Test("a token of a long text costs a small frame, and a late reader gets it whole")
    func differences() throws {
        var room = TextRoom()
        room.join(1)
        let long = String(repeating: "ü", count: 32_000)
        try room.desk.change("t", .append(long), isFinal: false, extras: "")
        room.settle()
        let before = room.frames
        #expect(before == (64_000 + 1_002) / 1_003)
        try room.desk.change("t", .append("x"), isFinal: false, extras: "")
        let polled = room.desk.pollFrame(now: .seconds(1_000))
        let frame = try #require(polled).frame
        #expect(frame.count <= TextFormat.fixedBytes + 2)
        // When
        room.join(2)
        room.settle()
        // Then, though 1 was never sent its last frame, it has asked for it once something followed
        #expect(room.heard[2]?["t"]?.text == long + "x")
        try room.desk.change("t", .append("y"), isFinal: true, extras: String(repeating: "e", count: 512))
        room.settle()
        for reader in [1, 2] {
            #expect(room.heard[reader]?["t"]?.text == long + "xy")
            #expect(room.heard[reader]?["t"]?.extras.utf8.count == 512)
        }
    }

    @Test("a reader that was too slow for the last of a text asks for it when it is told how that stands")
    func tooSlow() throws {
        var room = TextRoom()
        room.join(1)
        room.join(2)
        room.settle()
        try room.desk.change("t", .append("all of it"), isFinal: true, extras: "")
        var toFirst = false
        room.send {
            toFirst.toggle()
            return toFirst
        }
        room.settle()
        let before = (room.frames, room.heard.values.count { $0["t"] != nil })
        #expect(before == (1, 1))
        // When
        room.desk.confirm(now: room.now)
        room.settle()
        // Then one small frame to all, and the whole text to one
        #expect(room.heard[1]?["t"]?.text == "all of it" && room.heard[2]?["t"] == room.heard[1]?["t"])
        #expect(room.frames == before.0 + 2 && room.updates == 2)
    }

    @Test("a reader that takes nothing holds nobody else's text up")
    func stuck() throws {
        var room = TextRoom()
        room.join(1)
        room.settle()
        let long = String(repeating: "long ", count: 10_000)
        try room.desk.change("t", .append(long), isFinal: false, extras: "")
        room.settle()
        // When every frame is refused to somebody
        var written = ""
        for number in 0..<100 {
            written += "word\(number) "
            try room.desk.change("t", .append("word\(number) "), isFinal: false, extras: "")
            room.desk.confirm(now: room.now)
            room.send()
            while room.isUnderWay(to: 1) { room.deliver(to: 1) }
            room.wait(.milliseconds(100))
        }
        // Then
        #expect(room.heard[1]?["t"]?.text == long + written)
        #expect(room.frames <= 50 + 100 + 10)
    }

    @Test("what was refused to the writer is sent again")
    func refused() throws {
        var room = TextRoom()
        room.join(1)
        try room.desk.change("t", .append("lost"), isFinal: true, extras: "")
        room.send { true }
        // When
        room.desk.startAgain(now: room.now)
        room.settle()
        // Then
        #expect(room.heard[1]?["t"]?.text == "lost" && room.updates == 1)
        #expect(room.now >= .seconds(1))
    }

    @Test("texts, names, extras and streams beyond the limits are refused and change nothing")
    func limits() throws {
        var desk = TextDesk<Int>()
        for name in ["", String(repeating: "n", count: 33)] {
            #expect(throws: TextError.invalidName) { try desk.change(name, .append("x"), isFinal: false, extras: "") }
        }
        try desk.change("t", .append(String(repeating: "x", count: 65_536)), isFinal: false, extras: "")
        #expect(throws: TextError.textTooLong(bytes: 65_537)) {
            try desk.change("t", .append("x"), isFinal: false, extras: "")
        }
        #expect(throws: TextError.extrasTooLong(bytes: 513)) {
            try desk.change("t", .append(""), isFinal: false, extras: String(repeating: "e", count: 513))
        }
        for number in 1..<8 { try desk.change("\(number)", .append("x"), isFinal: false, extras: "") }
        #expect(throws: TextError.tooManyStreams) { try desk.change("8", .append("x"), isFinal: false, extras: "") }
        #expect(desk.pollFrame(now: .zero) != nil)
    }

    @Test("frames are sent 40 a second, 16 at once")
    func pace() throws {
        var desk = TextDesk<Int>()
        try desk.change("t", .append(String(repeating: "x", count: 65_536)), isFinal: false, extras: "")
        var sent = 0
        for millisecond in 0..<1_000 { while desk.pollFrame(now: .milliseconds(millisecond)) != nil { sent += 1 } }
        #expect(sent == 16 + 39)
    }
}
