import Foundation
import TestCases
import Testing
import VoiceDevices
import VoiceSimulation

@testable import duplex

@Suite("Echo in many recordings")
struct AecBatchTests {
    /// A played voice and a microphone that hears it half as loud 50 ms later, as `prefix`ref.wav and `prefix`mic.wav.
    private static func record(_ prefix: String, in folder: TestFolder, seed: UInt64) throws {
        let far = SyntheticSpeech.samples(frames: 24_000, seed: seed)
        let echo = [Float](repeating: 0, count: 800) + far.dropLast(800).map { $0 / 2 }
        try AudioFile.write(far, to: folder(prefix + "ref.wav"), sampleRate: 16_000)
        try AudioFile.write(echo, to: folder(prefix + "mic.wav"), sampleRate: 16_000)
    }

    @Test("a folder's recordings are found by their names")
    func folder() throws {
        let folder = try TestFolder()
        for name in ["a", "b", "c"] {
            try FileManager.default.createDirectory(atPath: folder(name), withIntermediateDirectories: false)
        }
        for name in [
            "a/mic.wav", "a/far.wav", "a/near.wav", "b/mic.wav", "c/ref.wav", "x_mic.wav", "x_lpb.wav", "y_mic.wav",
        ] {
            try folder.write([], to: name)
        }
        let items = try AecManifest.read(folder.path)
        #expect(
            items == [
                AecManifest.Item(
                    mic: folder("a/mic.wav"), ref: folder("a/far.wav"), out: nil, near: folder("a/near.wav")),
                AecManifest.Item(mic: folder("x_mic.wav"), ref: folder("x_lpb.wav"), out: nil, near: nil),
            ])
        #expect(AecBatch.names(items) == ["a", "x"])
        #expect(AecBatch.names(items + items) == ["a", "x", "a-2", "x-2"])
        // The page that leads to the others
        let first = AecManifest.Item(mic: "index_mic.wav", ref: "index_ref.wav", out: nil, near: nil)
        #expect(AecBatch.names([first]) == ["index-2"])
    }

    @Test("a manifest is CSV or JSON, and says where it is wrong")
    func manifest() throws {
        let folder = try TestFolder()
        let expected = [
            AecManifest.Item(mic: folder("m,1.wav"), ref: "/r.wav", out: folder("o.wav"), near: nil),
            AecManifest.Item(mic: folder("m\"2.wav"), ref: folder("r2.wav"), out: nil, near: nil),
        ]
        let csv = "mic,ref,out\r\n\"m,1.wav\",/r.wav,o.wav\r\n\n\"m\"\"2.wav\", r2.wav ,\n"
        #expect(try AecManifest.read(folder.write(Array(csv.utf8), to: "a.csv")) == expected)
        let ofSpreadsheet = [0xEF, 0xBB, 0xBF] + Array(csv.utf8)
        #expect(try AecManifest.read(folder.write(ofSpreadsheet, to: "b.csv")) == expected)
        let json = """
            {"mic": "m,1.wav", "ref": "/r.wav", "out": "o.wav"}
            {"mic": "m\\"2.wav", "ref": "r2.wav"}
            """
        #expect(try AecManifest.read(folder.write(Array(json.utf8), to: "a.jsonl")) == expected)
        try FileManager.default.createDirectory(atPath: folder("a b"), withIntermediateDirectories: false)
        let spaced = try AecManifest.read(folder.write(Array("mic,ref\nm.wav,/r.wav\n".utf8), to: "a b/c.csv"))
        #expect(spaced.map(\.mic) == [folder("a b/m.wav")])
        for (wrong, saying) in [
            ("", "no recordings"), ("mic,ref\n", "no recordings"), ("mic,sound\na,b\n", "heading"),
            ("mic,ref\na\n", "line 2"), ("\r\nmic,ref\r\n\r\na,b,c\n", "line 4"), ("{\"mic\": 1}\n", "line 1"),
            ("\n{\"mic\": \"a\", \"ref\": \"b\", \"delay\": 3}\n", "line 2: it has the key 'delay'"),
            ("[{\"mic\": \"a\", \"ref\": \"b\"}]\n", "one JSON object on each line"),
        ] {
            let path = try folder.write(Array(wrong.utf8), to: "w")
            let failure = #expect(throws: Failure.self) { try AecManifest.read(path) }
            #expect(failure?.message.contains(saying) == true, "\(wrong)")
        }
    }

    @Test("no output is written twice, or over an input")
    func outputs() throws {
        let folder = try TestFolder()
        try Self.record("a_", in: folder, seed: 1)
        for (out, saying) in [
            ("o.wav", "o.wav' twice"), ("./x/../o.wav", "o.wav' twice"), ("a_ref.wav", "a_ref.wav', which is an input"),
        ] {
            let csv = "mic,ref,out\na_mic.wav,a_ref.wav,o.wav\na_mic.wav,a_ref.wav,\(out)\n"
            try folder.write(Array(csv.utf8), to: "list.csv")
            let run = try ChildProcess.run(["aec", "--batch", folder("list.csv")])
            expectFailure(run, code: 66, saying: saying)
            #expect(!FileManager.default.fileExists(atPath: folder("o.wav")))
        }
    }

    @Test("nor twice by two names of one file")
    func names() throws {
        let folder = try TestFolder()
        try Self.record("a_", in: folder, seed: 1)
        try folder.write([1], to: "o.wav")
        try FileManager.default.linkItem(atPath: folder("o.wav"), toPath: folder("p.wav"))
        let csv = "mic,ref,out\na_mic.wav,a_ref.wav,o.wav\na_mic.wav,a_ref.wav,p.wav\n"
        try folder.write(Array(csv.utf8), to: "list.csv")
        let run = try ChildProcess.run(["aec", "--batch", folder("list.csv")])
        expectFailure(run, code: 66, saying: "p.wav' twice")
        #expect(try Data(contentsOf: URL(filePath: folder("o.wav"))) == Data([1]))
    }

    @Test("nor over the manifest, by a report as little as by a sound, whatever a file's other names")
    func manifestIsInput() throws {
        // Given two recordings, one file of which has another name
        let folder = try TestFolder()
        for (number, name) in ["a_", "b_"].enumerated() { try Self.record(name, in: folder, seed: UInt64(number)) }
        try FileManager.default.linkItem(atPath: folder("a_ref.wav"), toPath: folder("link.wav"))
        let heading = "mic,ref,out\na_mic.wav,a_ref.wav,o.wav\n"
        let lists: [(name: String, text: String, options: [String])] = [
            ("a.csv", heading, ["--report", folder.path + "/."]),
            ("list", heading + "b_mic.wav,b_ref.wav,list\n", []),
            ("list.csv", heading + "b_mic.wav,b_ref.wav,link.wav\n", []),
        ]
        let heard = try Data(contentsOf: URL(filePath: folder("a_ref.wav")))
        for (name, text, options) in lists {
            try folder.write(Array(text.utf8), to: name)
            // When they are processed
            let run = try ChildProcess.run(["aec", "--batch", folder(name)] + options)
            // Then nothing is written
            expectFailure(run, code: 66, saying: "which is an input; choose another output")
            #expect(try String(contentsOfFile: folder(name), encoding: .utf8) == text)
            #expect(!FileManager.default.fileExists(atPath: folder("o.wav")))
        }
        #expect(try Data(contentsOf: URL(filePath: folder("a_ref.wav"))) == heard)
    }

    @Test("a path that is longer than any leads nowhere, and is not looked for in each of its folders")
    func longPath() throws {
        let folder = try TestFolder()
        let long = String(repeating: "a/", count: 400_000) + "m.wav"
        try folder.write(Array("mic,ref\n\(long),r.wav\n".utf8), to: "list.csv")
        let run = try ChildProcess.run(["aec", "--batch", folder("list.csv")], limit: 60)
        expectFailure(run, code: 1, saying: "1 of 1 recordings could not be processed")
        #expect(FilePath.resolved(folder("x/../y/./z/")) == FilePath.resolved(folder("y/z")))
    }

    @Test("a hundred thousand recordings of one name are named one after the other", .timeLimit(.minutes(10)))
    func sameNames() {
        let item = AecManifest.Item(mic: "m.wav", ref: "r.wav", out: nil, near: nil)
        let other = AecManifest.Item(mic: "m-3.wav", ref: "r.wav", out: nil, near: nil)
        #expect(AecBatch.names([item, other, item, item, other]) == ["m", "m-3", "m-2", "m-4", "m-3-2"])
        let names = AecBatch.names(Array(repeating: item, count: 100_000))
        #expect(names.last == "m-100000")
    }

    @Test("a recording whose name is no UTF-8 is told of")
    func foreignName() throws {
        let folder = try TestFolder()
        try Self.record("a_", in: folder, seed: 1)
        let name = Array((folder.path + "/b").utf8) + [0xFF] + Array("_mic.wav\0".utf8)
        let path = name.map { CChar(bitPattern: $0) }
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT, 0o600)
        try #require(descriptor >= 0)
        close(descriptor)
        defer { _ = unsafe unlink(path) }
        let run = try ChildProcess.run(["aec", "--batch", folder.path])
        #expect(run.exitCode == 0)
        #expect(run.standardError.contains("has a name that is not UTF-8 and is left out"), "\(run.standardError)")
    }

    @Test("a link of the index leads to its page, whatever the recording is called")
    func links() throws {
        let folder = try TestFolder()
        try Self.record("a&lt_", in: folder, seed: 1)
        let run = try ChildProcess.run(["aec", "--batch", folder.path, "--report", folder("r")])
        #expect(run.exitCode == 0)
        let index = try String(contentsOfFile: folder("r/index.html"), encoding: .utf8)
        #expect(index.contains("<a href=\"./a&amp;lt.html\">a&amp;lt</a>"), "\(index)")
    }

    @Test("an output that the manifest names is not blamed on --out")
    func blame() throws {
        let folder = try TestFolder()
        try Self.record("a_", in: folder, seed: 1)
        try FileManager.default.createDirectory(atPath: folder("o"), withIntermediateDirectories: false)
        try folder.write(Array("mic,ref,out\na_mic.wav,a_ref.wav,o\n".utf8), to: "list.csv")
        let run = try ChildProcess.run(["aec", "--batch", folder("list.csv")])
        #expect(run.exitCode == 1)
        #expect(run.standardOutput.contains("is a folder; name a file for the manifest's out"), "\(run.standardOutput)")
    }

    @Test("a recording without a reference is told of")
    func widow() throws {
        let folder = try TestFolder()
        try Self.record("a_", in: folder, seed: 1)
        try folder.write([], to: "b_mic.wav")
        let run = try ChildProcess.run(["aec", "--batch", folder.path])
        #expect(run.exitCode == 0)
        #expect(run.standardError.contains("b_mic.wav' has no reference beside it"), "\(run.standardError)")
    }

    @Test("a failure does not stop the others, and is told in the table, the lines and the exit code")
    func failures() throws {
        let folder = try TestFolder()
        try Self.record("a_", in: folder, seed: 1)
        try Self.record("c_", in: folder, seed: 2)
        let csv = "mic,ref\na_mic.wav,a_ref.wav\nb_mic.wav,a_ref.wav\nc_mic.wav,c_ref.wav\n"
        try folder.write(Array(csv.utf8), to: "list.csv")
        let run = try ChildProcess.run([
            "aec", "--batch", folder("list.csv"), "--out", folder("out"), "--report", folder("report"), "--json",
        ])
        #expect(run.exitCode == 1)
        let lines = try #require(run.json)
        #expect(lines.map { $0["type"] as? String } == ["file", "file", "file", "batch"])
        #expect(lines.map { $0["error"] != nil } == [false, true, false, false])
        #expect(lines.last?["failed"] as? Int == 1)
        for name in ["out/a.wav", "out/c.wav", "report/index.html", "report/a.html", "report/a.csv", "report/c.html"] {
            #expect(FileManager.default.fileExists(atPath: folder(name)), "\(name)")
        }
        #expect(!FileManager.default.fileExists(atPath: folder("out/b.wav")))
        let page = try String(contentsOfFile: folder("report/a.html"), encoding: .utf8)
        #expect(page.contains("Verdict") && page.contains("data:image/png") && page.utf8.count < 2_000_000)
        let table = try ChildProcess.run(["aec", "--batch", folder("list.csv")])
        #expect(table.exitCode == 1)
        #expect(table.standardOutput.contains("failed: "))
        #expect(table.standardOutput.split(separator: "\n").count == 4)
    }

    // Of the linear stage: what the suppressor leaves of this echo is less than a unit of 16 bits in either case.
    @Test("with the delay told, the filter leaves less of the echo's first second")
    func delayHint() throws {
        let folder = try TestFolder()
        let far = SyntheticSpeech.samples(frames: 56_000, seed: 3)
        let echo = [Float](repeating: 0, count: 8_000) + far.dropLast(8_000).map { $0 / 2 }
        try AudioFile.write(far, to: folder("ref.wav"), sampleRate: 16_000)
        try AudioFile.write(echo, to: folder("mic.wav"), sampleRate: 16_000)
        func left(_ hint: [String]) throws -> Float {
            let run = try ChildProcess.run(
                [
                    "aec", "--mic", folder("mic.wav"), "--ref", folder("ref.wav"), "--out", folder("o.wav"),
                    "--stage", "linear",
                ] + hint)
            #expect(run.exitCode == 0 && run.standardError.isEmpty, "\(run.standardError)")
            let first = try #require(echo.firstIndex { abs($0) > 0.01 })
            return try AudioFile.read(folder("o.wav"), convertedTo: 16_000).samples[first..<first + 16_000]
                .reduce(0) { $0 + $1 * $1 }
        }
        let (aided, unaided) = try (left(["--delay-hint", "500"]), left([]))
        #expect(aided < 0.9 * unaided, "\(aided), \(unaided) without")
    }

    @Test("there is a page of sound that is far below what anybody hears")
    func faint() throws {
        let folder = try TestFolder()
        try AudioFile.write(
            (0..<4_800).map { $0.isMultiple(of: 2) ? 1e-30 : -1e-30 }, to: folder("s.wav"), encoding: .float32)
        let run = try ChildProcess.run([
            "aec", "--mic", folder("s.wav"), "--ref", folder("s.wav"), "--out", folder("o.wav"), "--report",
            folder("r"),
        ])
        #expect(run.exitCode == 0)
        #expect(FileManager.default.fileExists(atPath: folder("r/index.html")))
    }

    @Test("a page is well-formed where there is nothing to show")
    func silence() throws {
        let folder = try TestFolder()
        try AudioFile.write([Float](repeating: 0, count: 4_800), to: folder("s.wav"))
        let run = try ChildProcess.run([
            "aec", "--mic", folder("s.wav"), "--ref", folder("s.wav"), "--out", folder("o.wav"), "--report",
            folder("r"),
        ])
        #expect(run.exitCode == 0)
        #expect(run.standardOutput.contains("unknown: The far end was never heard"))
        let page = try String(contentsOfFile: folder("r/index.html"), encoding: .utf8)
        #expect(!page.contains("nan") && !page.contains("inf\""))
    }
}

@Suite("What recordings tell of their echo")
struct EchoPathTests {
    private static let rate = 16_000

    /// What is played, and what a room makes of it.
    private static let call: (far: [Float], echo: [Float]) = {
        var random = SeededGenerator(seed: 3)
        let far = SyntheticSpeech.samples(frames: rate * 12, seed: 4)
        // A direct sound and a tail that falls by 60 dB in 0.2 s: 99 % of its energy comes within 67 ms.
        var response = (0..<rate / 4).map { index in
            Float.random(in: -1...1, using: &random) * Float(pow(10, -3 * Double(index) / (0.2 * Double(rate))))
        }
        response[0] = 3
        let gain = 0.5 / response.reduce(0) { $0 + $1 * $1 }.squareRoot()
        for index in response.indices { response[index] *= gain }
        var room = PartitionedConvolver(impulseResponse: response.span)
        var echo = [Float](repeating: 0, count: far.count)
        var span = echo.mutableSpan
        room.process(far.span, into: &span)
        return (far, echo)
    }()

    @Test("return loss, delay and tail of a path that is known", arguments: cases([-6_000, 0, 4_000]))
    func known(delay: Int) throws {
        let (far, echo) = Self.call
        let microphone = far.indices.map { echo.indices.contains($0 - delay) ? echo[$0 - delay] : 0 }
        let path = try #require(EchoPath(reference: far, microphone: microphone, rate: Self.rate))
        #expect(abs((path.returnLossDecibels ?? 0) - 6) < 2)
        #expect(abs(try #require(path.lagMilliseconds) - Double(delay) / 16) < 0.1)
        #expect(abs((path.tailMilliseconds ?? 0) - 67) < 25)
        #expect(path.linearShare > 0.9)
    }
    private var rate: Int { Self.rate }

    @Test("a microphone that hears something else holds no linear echo")
    func foreign() throws {
        let far = SyntheticSpeech.samples(frames: rate * 12, seed: 5)
        let other = SyntheticSpeech.samples(frames: rate * 12, seed: 6, voice: .high)
        let path = try #require(EchoPath(reference: far, microphone: other, rate: Self.rate))
        #expect(path.linearShare < 0.1)
        #expect(path.lagMilliseconds == nil)
        #expect(EchoPath(reference: other.map { _ in 0 }, microphone: other, rate: Self.rate) == nil)
    }

    @Test("what a known talker lost")
    func talker() throws {
        let near = SyntheticSpeech.samples(frames: rate * 4, seed: 7)
        let untouched = NearEvidence(near: near, microphone: near, output: near, rate: Self.rate, lag: 0)
        #expect(untouched.lostShare == 0)
        #expect(abs(untouched.levelChange ?? 9) < 0.01)
        // Half of the time muted
        let gated = near.indices.map { ($0 / 3_200).isMultiple(of: 2) ? near[$0] : near[$0] / 1_000 }
        let cut = NearEvidence(near: near, microphone: near, output: gated, rate: Self.rate, lag: 0)
        #expect((0.3...0.7).contains(cut.lostShare ?? 0))
        #expect((cut.distortionAfter ?? 99) < (cut.distortionBefore ?? 0) - 20)
    }
}
