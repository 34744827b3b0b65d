import Foundation
import Testing
import VoiceDevices
import VoiceSimulation

@Suite("Speech is found in a recording")
struct SpeechTests {
    /// Room noise with speech in it twice, from about 1 s and 5 s on, 48 kHz; returns when there is any, in seconds.
    @discardableResult
    private func recording(_ folder: TestFolder) throws -> [ClosedRange<Double>] {
        var noise = SeededGenerator(seed: 5)
        var samples = (0..<8 * 48_000).map { _ in Float(0.0005 * noise.gaussian()) }
        let said = try [(1.0, 2.0, 7 as UInt64), (5, 1.5, 8)].map { start, seconds, seed in
            let talk = SyntheticSpeech.samples(frames: Int(seconds * 48_000), seed: seed)
            for index in talk.indices { samples[Int(start * 48_000) + index] += talk[index] }
            // It begins with a pause, and may end with one.
            let first = try #require(talk.firstIndex { abs($0) > 0.01 })
            let last = try #require(talk.lastIndex { abs($0) > 0.01 })
            return start + Double(first) / 48_000...start + Double(last) / 48_000
        }
        try AudioFile.write(samples, to: folder("in.wav"))
        return said
    }

    @Test("as NDJSON with start, end and probability, and cut out of it")
    func segments() throws {
        // Given two utterances
        let folder = try TestFolder()
        let said = try recording(folder)
        // When a pause must last 500 ms to end one
        let result = try ChildProcess.run([
            "speech", folder("in.wav"), "--segments", folder("cut"), "--minimum-silence-ms", "500", "--json",
        ])
        // Then there are two segments, where they were said,
        #expect(result.exitCode == 0, "\(result.standardError)")
        let lines = try #require(result.json)
        let found = lines.filter { $0["type"] as? String == "segment" }
        try #require(found.count == 2, "\(result.standardOutput)")
        for (line, range) in zip(found, said) {
            let start = try #require(line["start"] as? Double)
            let end = try #require(line["end"] as? Double)
            #expect(abs(start - range.lowerBound) < 0.1, "\(start), not \(range.lowerBound)")
            #expect(abs(end - range.upperBound) < 0.2, "\(end), not \(range.upperBound)")
            let probability = try #require(line["probability"] as? Double)
            #expect(probability > 0.5 && probability <= 1)
        }
        // a summary,
        #expect(lines.last?["type"] as? String == "summary")
        #expect(lines.last?["segments"] as? Int == 2)
        // and each as a file of its own, sample for sample.
        let whole = try AudioFile.read(folder("in.wav")).samples
        for (number, line) in found.enumerated() {
            let cut = try AudioFile.read(folder("cut/segment-000\(number + 1).wav")).samples
            let start = Int(((line["start"] as? Double ?? 0) * 48_000).rounded())
            #expect(cut == Array(whole[start..<start + cut.count]))
            let seconds = (line["end"] as? Double ?? 0) - (line["start"] as? Double ?? 0)
            #expect(abs(Double(cut.count) / 48_000 - seconds) < 0.001)
        }
    }

    @Test("the example of the help, in lines for people")
    func example() throws {
        let folder = try TestFolder()
        try recording(folder)
        let result = try ChildProcess.run([
            "speech", folder("in.wav"), "--frame-ms", "32", "--threshold", "0.5", "--hysteresis", "0.15",
            "--minimum-speech-ms", "250", "--minimum-silence-ms", "40",
        ])
        #expect(result.exitCode == 0, "\(result.standardError)")
        #expect(result.standardOutput.contains(" s, probability "))
        #expect(result.standardOutput.contains("of 8.00 s"))
    }

    @Test("nothing where there is none")
    func silence() throws {
        let folder = try TestFolder()
        try AudioFile.write([Float](repeating: 0, count: 48_000), to: folder("silence.wav"))
        let result = try ChildProcess.run(["speech", folder("silence.wav"), "--json"])
        #expect(result.exitCode == 0)
        #expect(result.json?.count == 1)
        #expect(result.json?.last?["speech_seconds"] as? Double == 0)
    }

    @Test("files that cannot be read are told with their names")
    func unusable() throws {
        let folder = try TestFolder()
        try folder.write(Array("no sound".utf8), to: "text.wav")
        try AudioFile.write([], to: folder("empty.wav"))
        for (name, words) in [
            ("absent.wav", "there is no file"), ("text.wav", "is not an audio file"), ("empty.wav", "holds no sound"),
        ] {
            let result = try ChildProcess.run(["speech", folder(name), "--json"])
            expectFailure(result, code: 66, saying: words)
            #expect(result.standardOutput.isEmpty)
        }
        try recording(folder)
        let inTheWay = ["speech", folder("in.wav"), "--segments", folder("in.wav")]
        expectFailure(try ChildProcess.run(inTheWay), code: 1, saying: "cannot be made")
    }

    @Test(
        "an option out of its range is refused by its name, with its value and what it may be",
        arguments: [
            (["--frame-ms", "5"], "--frame-ms is 5.0; use 10 to 100 ms"),
            (["--threshold", "0"], "--threshold is 0.0; use more than 0 and at most 1"),
            (["--threshold", "nan"], "--threshold is nan; use more than 0"),
            (["--threshold", "1e-45"], "--hysteresis is 1e-45; use 0 to less than --threshold"),
            (["--hysteresis", "0.7"], "--hysteresis is 0.7; use 0 to less than --threshold, 0.7"),
            (["--onset-ms", "2001"], "--onset-ms is 2001.0; use 0 to 2000 ms"),
            (["--minimum-silence-ms=-1"], "--minimum-silence-ms is -1.0; use 0 to 10000 ms"),
            (["--minimum-speech-ms", "inf"], "--minimum-speech-ms is inf; use 0 to 2000 ms"),
            (["--noise-hangover-ms", "1001"], "--noise-hangover-ms is 1001.0; use 0 to 1000 ms"),
            (["--pre-roll-ms", "2001"], "--pre-roll-ms is 2001.0; use 0 to 2000 ms"),
        ])
    func ranges(options: [String], saying: String) throws {
        let result = try ChildProcess.run(["speech", "in.wav"] + options)
        expectFailure(result, code: 64, saying: saying)
        #expect(result.standardOutput.isEmpty)
    }
}
