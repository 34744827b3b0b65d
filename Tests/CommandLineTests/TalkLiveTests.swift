import Foundation
import TestCases
import Testing
import VoiceDevices

/// What `tools/setup --agent` installs.
enum OfflinePrograms {
    static let areInstalled =
        ["/usr/bin/espeak-ng", "/usr/share/pocketsphinx/model/en-us/cmudict-en-us.dict"].allSatisfy {
            FileManager.default.fileExists(atPath: $0)
        }
}

/// `duplex talk` with the real recogniser and the real voice; the near talker is the voice too, and the grammar is the
/// command's own.
@Suite("A talk with the offline partner", .enabled(if: OfflinePrograms.areInstalled, "needs tools/setup --agent"))
struct TalkLiveTests {
    /// Writes what the near talker says: texts, and seconds of silence.
    static func say(_ parts: [Part], to path: String) throws {
        var samples: [Float] = []
        for part in parts {
            switch part {
            case .silence(let seconds): samples += [Float](repeating: 0, count: Int(seconds * 48_000))
            case .text(let text): samples += try spoken(text)
            }
        }
        try AudioFile.write(samples, to: path)
    }

    enum Part { case silence(Double), text(String) }

    private static func spoken(_ text: String) throws -> [Float] {
        let spoken = try TestProgram.run("/usr/bin/espeak-ng", ["--stdout", "-v", "en-us", "-s", "150", text])
        try #require(spoken.status == 0, "\(spoken.complaint)")
        let bytes = Array(spoken.output.dropFirst(44))
        let samples = stride(from: 0, to: bytes.count - 1, by: 2).map {
            Float(Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)) / 32_768
        }
        // From 22.05 to 48 kHz
        return (0..<samples.count * 320 / 147).map { frame in
            let place = Double(frame) * 147 / 320
            let (index, part) = (Int(place), Float(place - place.rounded(.down)))
            return samples[index] * (1 - part) + samples[min(index + 1, samples.count - 1)] * part
        }
    }

    @Test("Given a story that somebody speaks into, then it is cut, and asked where it was the partner knows")
    func story() throws {
        let folder = try TestFolder()
        try Self.say(
            [.silence(1), .text("tell me a story"), .silence(4), .text("where did you stop"), .silence(0.5)],
            to: folder("in.wav"))
        let wanted = ["tell me a story", "where did you stop"]
        let result = try attempted(until: { $0.recognised == wanted }) {
            try? FileManager.default.removeItem(atPath: folder("recording"))
            return try ChildProcess.run(
                [
                    "talk", "--offline", "--input", folder("in.wav"), "--output", folder("out.wav"), "--json",
                    "--record", folder("recording"), "--record-sound",
                ], limit: 120)
        }
        #expect(result.exitCode == 0, "\(result.standardError)")
        // And its recording runs again to the bit
        let replay = try ChildProcess.run(["replay", folder("recording"), "--json"], limit: 120)
        #expect(replay.exitCode == 0, "\(replay.standardOutput) \(replay.standardError)")
        let events = try #require(result.json)
        #expect(result.recognised == wanted)
        let answers = events.filter { $0["type"] as? String == "answered" }
        try #require(answers.count == 2)
        let heard = try #require(answers[0]["heard"] as? String)
        let said = try #require(answers[0]["said"] as? String)
        #expect(answers[0]["end"] as? String == "interrupted" && said.hasPrefix(heard) && heard.count < said.count)
        let words = heard.split(separator: " ").suffix(6).joined(separator: " ")
        #expect(answers[1]["said"] as? String == "You had heard me as far as: \(words).")
        let captions = events.filter { $0["type"] as? String == "caption" && $0["turn"] as? Int == 1 }
        #expect(captions.compactMap { $0["text"] as? String }.joined(separator: " ") == heard)
        #expect(events.last?["answers_cut"] as? Int == 1)
    }

    @Test(
        "an input that is not there, or is no sound, ends the talk with a word about it", arguments: [nil, "no sound"])
    func badInput(text: String?) throws {
        let folder = try TestFolder()
        if let text { try folder.write(Array(text.utf8), to: "in.wav") }
        let result = try ChildProcess.run(["talk", "--offline", "--input", folder("in.wav")], limit: 60)
        expectFailure(result, code: 66, saying: "in.wav")
    }

    @Test("a grammar of one's own, and one that is none")
    func grammar() throws {
        let folder = try TestFolder()
        let own = "#JSGF V1.0; grammar own; public <line> = say yes | say no;"
        try own.write(toFile: folder("own.gram"), atomically: true, encoding: .utf8)
        try "nonsense".write(toFile: folder("bad.gram"), atomically: true, encoding: .utf8)
        try Self.say([.silence(0.7), .text("say no"), .silence(0.3)], to: folder("in.wav"))
        func talk(_ grammar: String) throws -> ChildProcess.Result {
            try ChildProcess.run(
                ["talk", "--offline", "--input", folder("in.wav"), "--grammar", folder(grammar), "--json"], limit: 120)
        }
        func isAnswered(_ result: ChildProcess.Result) -> Bool {
            result.json?.contains { $0["heard"] as? String == "no." } == true
        }
        let answered = try attempted(until: isAnswered) { try talk("own.gram") }
        #expect(isAnswered(answered), "\(answered)")
        expectFailure(try talk("bad.gram"), code: 64, saying: "the grammar is no JSGF")
    }
}

@Suite("What the talk command says before it talks")
struct TalkUsageLiveTests {
    @Test("without espeak-ng it says what to install")
    func notInstalled() throws {
        let folder = try TestFolder()
        try AudioFile.write([Float](repeating: 0, count: 4_800), to: folder("in.wav"))
        let result = try ChildProcess.run(
            ["talk", "--offline", "--input", folder("in.wav")], environment: ["PATH": folder("nowhere")])
        expectFailure(result, code: 69, saying: "tools/setup --agent")
    }

    @Test(
        "what does not go together",
        arguments: [
            (["talk"], "--offline"), (["talk", "--offline", "--output", "x.wav"], "--input"),
            (["talk", "--offline", "--input", "x.wav", "--mode", "push"], "needs a key"),
            (["talk", "--offline", "--input", "x.wav", "--capture", "default"], "use either"),
            (["serve-realtime", "--address", "0.0.0.0"], "--key-file"),
            (["serve-realtime", "--certificate", "x"], "belong together"),
            (["talk", "--offline", "--responder", "http://127.0.0.1/"], "--model"),
            (["talk", "--offline", "--responder", "ftp://127.0.0.1/", "--model", "m"], "no URL of chat completions"),
        ])
    func usage(arguments: [String], complaint: String) throws {
        expectFailure(try ChildProcess.run(arguments), code: 64, saying: complaint)
    }
}
