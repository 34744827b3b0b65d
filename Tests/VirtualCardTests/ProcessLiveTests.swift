import CALSA
import Foundation
import Testing

@Suite("Virtual card: processes, and what it refuses", .serialized)
struct ProcessLiveTests {
    @Test("two processes share the air, in real time and in virtual time", arguments: ["", ",VIRTUAL=1"])
    func twoProcesses(arguments: String) throws {
        let pcm = "vcard:ID=two" + arguments
        // One plays for good; once it does, the other hears a second and a half of it.
        let script = """
            vcard-probe play \(pcm) 1000000 & played=$!
            until vcard-control two status 2>/dev/null | grep -qx "playback.running 1"; do sleep 0.01; done
            vcard-probe hear \(pcm) 1.5 || exit
            kill $played
            """
        let output = try Tool.withCard().run(["bash", "-c", script], seconds: 40)
        #expect(output.status == 0, "\(output.errors)")
        let pulses = try #require(Int(output.text.split(separator: " ").last?.dropLast() ?? ""))
        #expect((3...8).contains(pulses), "\(output.text)")
    }

    @Test("a direction that is taken is EBUSY, also for its own process, and free once its owner is dead")
    func busy() throws {
        try CardWorkshop.withCard { card in
            let capture = try CardStream(card.pcm, .capture)
            #expect { try CardStream(card.pcm, .capture) } throws: { ($0 as? ALSAFailure)?.code == -EBUSY }
            let playback = try CardStream(card.pcm, .playback)
            capture.close()
            playback.close()
        }
        let script = """
            coproc owner { exec vcard-probe hold capture vcard:ID=b; }
            read -r said <&"${owner[0]}"
            vcard-probe hear vcard:ID=b 0.1
            echo "busy $?"
            kill -KILL "$owner_PID"
            while kill -0 "$owner_PID" 2>/dev/null; do :; done
            vcard-probe hold capture vcard:ID=b </dev/null
            """
        let output = try Tool.withCard().run(["bash", "-c", script])
        #expect(output.text == "busy 69\nopen\n", "\(output.errors)")
        #expect(output.errors.contains("Device or resource busy"))
    }

    @Test("virtual time goes on when the process that has the other direction is killed")
    func killed() throws {
        let script = """
            time_of() { vcard-control k status | sed -n 's/^time_s \\([0-9]*\\).*/\\1/p'; }
            until_time() { while now=$(time_of); ((${now:-0} < $1)); do sleep 0.01; done; }
            vcard-probe hear vcard:ID=k,VIRTUAL=1 1000000 & heard=$!
            vcard-probe play vcard:ID=k,VIRTUAL=1 1000000 & played=$!
            until_time 5
            kill -KILL $played
            then=$(time_of)
            until_time $((then + 20))
            kill $heard
            wait 2>/dev/null
            echo on
            """
        let output = try Tool.withCard().run(["bash", "-c", script], seconds: 60)
        #expect(output.text == "on\n", "\(output.errors)")
    }

    @Test("with-card removes its cards, gives the command's status, and makes the default PCM on demand")
    func withCard() throws {
        let script = "vcard-probe hold playback default </dev/null && echo $VCARD_SPACE && exit 7"
        let output = try Tool.withCard().run(["--default", "ID=d,RATE=44100", "bash", "-c", script])
        #expect(output.status == 7, "\(output.errors)")
        let space = try #require(output.text.split(separator: "\n").last)
        let left = try FileManager.default.contentsOfDirectory(atPath: "/dev/shm").filter { $0.contains(space) }
        #expect(left.isEmpty)
        #expect(try Tool.withCard().run([]).status == 64)
        #expect(try Tool.withCard().run(["--nonsense", "true"]).status == 64)
    }

    @Test("programs that list PCMs find it")
    func hints() throws {
        let output = try Tool.withCard().run(["vcard-probe", "list"])
        #expect(output.text.contains("vcard\tVirtual sound card\n"))
        #expect(output.text.contains("plugvcard\tVirtual sound card, any rate and format\n"))
    }

    @Test("both directions must agree on rate and kind of time")
    func disagreement() throws {
        try CardWorkshop.withCard { card in
            let playback = try CardStream(card.pcm("RATE=44100"), .playback, Shape(rate: 44_100))
            for other in ["", "RATE=44100,VIRTUAL=1"] {
                #expect { try CardStream(card.pcm(other), .capture) } throws: {
                    ($0 as? ALSAFailure)?.code == -EINVAL
                }
            }
            let capture = try CardStream(card.pcm("RATE=44100"), .capture, Shape(rate: 44_100))
            playback.close()
            capture.close()
        }
    }

    static let refusals = [
        ("ID=a/b", "ID=a/b: must be 1 to 32 letters, digits, - or _"),
        ("RATE=7999", "RATE=7999: must be a whole number from 8000 to 192000"),
        ("RATE=fast", "RATE=fast: must be a whole number from 8000 to 192000"),
        ("RATE=48000.5", "RATE=48000.5: must be a whole number"),
        ("PPM_CAPTURE=6000", "PPM_CAPTURE=6000: must be a number from -5000 to 5000"),
        ("JITTER_US=-1", "JITTER_US=-1: must be a whole number from 0 to 1000000"),
        ("FORMATS=S24_LE", "FORMATS=S24_LE: must be one or more of these"),
        ("CHANNELS=3", "CHANNELS=3: must be one or more of these"),
        ("PERIOD_FRAMES=100", "need one of FORMATS and one of CHANNELS"),
        ("FORMATS=S16_LE,CHANNELS=1,PERIOD_MIN=100,PERIOD_MAX=50", "PERIOD_MIN=100 is above PERIOD_MAX=50"),
        ("FORMATS=S16_LE,CHANNELS=1,PERIOD_FRAMES=9,PERIOD_MIN=9", "PERIOD_FRAMES=9 is the only period there is"),
        ("ROOM=/nowhere/room.wav", "/nowhere/room.wav: No such file or directory"),
        ("NOISE=1", "Unknown parameter NOISE"),
    ]

    @Test("a wrong argument is refused with what is wrong and what is allowed", arguments: refusals)
    func refusal(argument: String, line: String) throws {
        let output = try Tool.withCard().run(["vcard-probe", "hold", "capture", "vcard:\(argument)"])
        #expect(output.status == 69)
        #expect(output.errors.contains(line), "\(output.errors)")
    }

    static let files: [(String, [UInt8], String)] = [
        (".wav", Array("no RIFF".utf8), "it is not a WAV file"),
        (".wav", RoomTests.wav([0, 0, 0, 0], format: 1, bits: 16, channels: 2), "it must have one channel"),
        (".wav", RoomTests.wav([0, 0], format: 1, bits: 16, rate: 16_000), "its rate must be the card's RATE"),
        (".wav", RoomTests.wav([0, 0, 0], format: 1, bits: 24), "it must be PCM of 16 bits or float of 32"),
        (".wav", Array(RoomTests.wav([0, 0], format: 1, bits: 16).prefix(30)), "its format chunk is too short"),
        (".wav", RoomTests.wav([], format: 1, bits: 16), "it is empty"),
        (".f32", [], "it is empty"),
    ]

    @Test("a file that cannot be used is refused with the reason", arguments: files)
    func refusedFile(suffix: String, bytes: [UInt8], line: String) throws {
        try RoomTests.withFile(suffix, bytes) { path in
            let output = try Tool.withCard().run(["vcard-probe", "hold", "capture", "vcard:NEAR=\(path)"])
            #expect(output.status == 69)
            #expect(output.errors.contains(line), "\(output.errors)")
        }
    }

    static let controls: [([String], Int32, String)] = [
        (["nobody", "status"], 69, "no card nobody"), (["x"], 64, "a card and a command are needed"),
        (["a", "dance"], 64, "no such command: dance"), (["a", "stall", "left", "5"], 64, "which direction?: left"),
        (["a", "stall", "both", "long"], 64, "long: must be a number from 0 to 3600000"),
        (["a", "gain"], 64, "(nothing): must be a number"),
    ]

    @Test("vcard-control says what is wrong with a command", arguments: controls)
    func refusedControl(words: [String], status: Int32, line: String) throws {
        let script = "vcard-probe hold playback vcard:ID=a </dev/null && exec vcard-control \"$@\""
        let output = try Tool.withCard().run(["bash", "-c", script, "-"] + words)
        #expect(output.status == status)
        #expect(output.errors.contains(line), "\(output.errors)")
    }

    struct Restriction: Sendable, CustomTestStringConvertible {
        var arguments: String
        var shape: Shape
        var isAllowed: Bool
        var testDescription: String { "\(arguments) period \(shape.period) x \(shape.periods)" }
    }

    static let restrictions: [Restriction] = [
        ("PERIOD_FRAMES=441", 441, 4, true), ("PERIOD_FRAMES=441", 440, 4, false),
        ("PERIOD_MIN=256", 256, 4, true), ("PERIOD_MIN=256", 255, 4, false), ("PERIOD_MAX=512", 512, 4, true),
        ("PERIOD_MAX=512", 513, 4, false), ("BUFFER_MAX=1024", 256, 4, true), ("BUFFER_MAX=1024", 256, 5, false),
    ].map { arguments, period, periods, isAllowed in
        var shape = Shape(format: SND_PCM_FORMAT_S16_LE, channels: 2, rate: 44_100, period: period)
        shape.periods = periods
        return Restriction(
            arguments: "RATE=44100,FORMATS=S16_LE,CHANNELS=2,\(arguments)", shape: shape, isAllowed: isAllowed)
    }

    @Test("awkward hardware gives no other sizes than it says", arguments: restrictions)
    func restricted(_ restriction: Restriction) throws {
        try CardWorkshop.withCard(restriction.arguments) { card in
            let stream = try? CardStream(card.pcm, .playback, restriction.shape)
            #expect((stream != nil) == restriction.isAllowed)
        }
    }
}
