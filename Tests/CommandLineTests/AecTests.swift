import Foundation
import TestCases
import Testing
import VoiceDevices
import VoiceSimulation

@testable import duplex

@Suite("Echo in one recording")
struct AecTests {
    private static let rate = 16_000

    /// The arguments that process `folder`'s mic.wav and ref.wav.
    private static func command(_ folder: TestFolder) -> [String] {
        ["aec", "--mic", folder("mic.wav"), "--ref", folder("ref.wav"), "--out", folder("o.wav")]
    }

    @Test("what cannot be measured is left out of the summary, and nothing says that it is no number")
    func beyondMeasure() throws {
        let folder = try TestFolder()
        var far = SyntheticSpeech.samples(frames: 3 * Self.rate, seed: 8)
        let echo = [Float](repeating: 0, count: 800) + far.dropLast(800).map { $0 / 2 }
        // Given a file of floats with one sample that no sound has
        far[Self.rate] = 1e18
        for (name, samples) in [("ref.wav", far), ("mic.wav", echo)] {
            try AudioFile.write(samples, to: folder(name), sampleRate: Self.rate, encoding: .float32)
        }
        // When
        let json = try ChildProcess.run(Self.command(folder) + ["--json"])
        let text = try ChildProcess.run(Self.command(folder))
        // Then
        #expect(json.exitCode == 0 && !json.standardError.contains("error"), "\(json.standardError)")
        #expect(json.json?.last?["type"] as? String == "summary")
        #expect(text.exitCode == 0 && !text.standardOutput.contains("nan"), "\(text.standardOutput)")
    }

    @Test("a recording that does not fit the memory is refused before it is read", arguments: ["mic", "ref"])
    func tooLong(long: String) throws {
        // Given a second of sound, and a second more than the most of 16 kHz, whose samples are a hole in the file
        let folder = try Self.folder([Float](repeating: 0, count: Self.rate), [Float](repeating: 0, count: Self.rate))
        func little(_ value: Int, _ bytes: Int) -> [UInt8] {
            (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let frames = AecInput.mostFrames + Self.rate
        var header = Array("RIFF".utf8) + little(36 + frames, 4) + Array("WAVEfmt ".utf8)
        for (value, bytes) in [(16, 4), (1, 2), (1, 2), (Self.rate, 4), (Self.rate, 4), (1, 2), (8, 2)] {
            header += little(value, bytes)
        }
        header += Array("data".utf8) + little(frames, 4)
        try folder.write(header, to: long + ".wav")
        let file = try FileHandle(forWritingTo: URL(filePath: folder(long + ".wav")))
        try file.truncate(atOffset: UInt64(44 + frames))
        try file.close()
        // When
        let run = try ChildProcess.run(Self.command(folder))
        // Then
        let reason = "\(long).wav' lasts longer than 60 minutes, the most that is processed at 16000 Hz"
        expectFailure(run, code: 66, saying: reason)
        #expect(!FileManager.default.fileExists(atPath: folder("o.wav")))
    }

    @Test("rumble below a voice does not stay in the near end", arguments: ["native", "speexDSP", "webRTC"])
    func rumble(backend: String) throws {
        // Given a microphone that stands on a floor which trembles at 25 Hz, and nothing else
        let frames = 2 * Self.rate
        let rumble = (0..<frames).map { 0.2 * Float(sin(2 * .pi * 25 * Double($0) / Double(Self.rate))) }
        let folder = try Self.folder([Float](repeating: 0, count: frames), rumble)
        // When
        let run = try ChildProcess.run(Self.command(folder) + ["--backend", backend])
        // Then, after a second, it is 14 dB lower or more
        #expect(run.exitCode == 0, "\(run.standardError)")
        let left = try AudioFile.read(folder("o.wav"), convertedTo: Self.rate).samples.dropFirst(Self.rate)
        #expect(left.count > frames / 2 - 160 && left.allSatisfy { abs($0) < 0.04 })
    }

    @Test("measures that are no numbers are unknown")
    func unknown() {
        let far = SyntheticSpeech.samples(frames: 6 * Self.rate, seed: 9)
        let broken = far.map { _ in Float.nan }
        let evidence = EchoEvidence(
            microphone: far, reference: far, output: broken, rate: Self.rate, delay: 0, lag: 0)
        #expect(evidence.enhancementDecibels == nil && evidence.heardSeconds > 1)
        #expect(EchoPath(reference: far, microphone: broken, rate: Self.rate) == nil)
    }

    @Test("a line that cannot be put as JSON is lost output")
    func lostLine() {
        struct Line: JSONLine {
            let schema = "duplexvoice.test/1"
            let type = "summary"
            let value = Double.nan
        }
        #expect(!Console.hasLostOutput)
        Console.emit(Line())
        #expect(Console.hasLostOutput)
    }

    /// Noise, and itself half as loud `delay` frames later; where that is negative, earlier.
    private static func noise(seconds: Int, delay: Int) -> (far: [Float], echo: [Float]) {
        var random = SeededGenerator(seed: 10)
        let far = (0..<seconds * rate).map { _ in Float.random(in: -0.3...0.3, using: &random) }
        let echo = far.indices.map { far.indices.contains($0 - delay) ? far[$0 - delay] / 2 : 0 }
        return (far, echo)
    }

    /// A folder with these two as ref.wav and mic.wav.
    private static func folder(_ far: [Float], _ microphone: [Float]) throws -> TestFolder {
        let folder = try TestFolder()
        try AudioFile.write(far, to: folder("ref.wav"), sampleRate: rate)
        try AudioFile.write(microphone, to: folder("mic.wav"), sampleRate: rate)
        return folder
    }

    @Test(
        "an echo that precedes the reference is told, and nothing is called good then",
        arguments: cases([-1_000, -8_000]))
    func precedes(delay: Int) throws {
        let (far, echo) = Self.noise(seconds: 5, delay: delay)
        let folder = try Self.folder(far, echo)
        let run = try ChildProcess.run(Self.command(folder))
        #expect(run.exitCode == 0)
        let milliseconds = -delay / 16
        #expect(
            run.standardOutput.contains("poor: The echo precedes the reference by \(milliseconds)."),
            "\(run.standardOutput)")
        #expect(!run.standardOutput.contains("good:"), "\(run.standardOutput)")
        let json = try ChildProcess.run(Self.command(folder) + ["--json"])
        #expect(abs((json.json?.last?["echo_lag_ms"] as? Double ?? 0) + Double(milliseconds)) < 1)
    }

    @Test("an echo at the reference itself is hardly in time")
    func hardlyInTime() throws {
        let (far, echo) = Self.noise(seconds: 4, delay: 0)
        let folder = try Self.folder(far, echo)
        let run = try ChildProcess.run(Self.command(folder))
        #expect(run.exitCode == 0)
        #expect(
            run.standardOutput.contains("fair: The echo comes only 0.0 ms after the reference"), "\(run.standardOutput)"
        )
    }

    @Test("a volume that is turned and a delay that jumps are told of")
    func changes() throws {
        let (far, echo) = Self.noise(seconds: 8, delay: 800)
        var recorded = echo
        for index in (4 * Self.rate)..<recorded.count { recorded[index] *= 0.5 }
        let softer = try Self.folder(far, recorded)
        let turned = try ChildProcess.run(Self.command(softer))
        #expect(
            turned.standardOutput.contains("The echo's gain changed once by -6.0 dB"), "\(turned.standardOutput)")
        let late = Self.noise(seconds: 8, delay: 3_200).echo
        recorded = Array(echo[..<(4 * Self.rate)]) + late[(4 * Self.rate)...]
        let folder = try Self.folder(far, recorded)
        let jumped = try ChildProcess.run(Self.command(folder))
        #expect(jumped.standardOutput.contains("The echo's delay jumped once"), "\(jumped.standardOutput)")
        let summary = try ChildProcess.run(Self.command(folder) + ["--json"]).json?.last
        #expect(summary?["delay_shifts"] as? Int == 1 && summary?["gain_changes"] as? Int == 0)
    }

    @Test("a reference with gaps is told of")
    func gaps() throws {
        let (played, echo) = Self.noise(seconds: 6, delay: 800)
        var far = played
        // Given frames of the reference that are lost after it was played
        for start in [3, 4] { for index in 0..<480 { far[start * Self.rate + index] = 0 } }
        let folder = try Self.folder(far, echo)
        let run = try ChildProcess.run(Self.command(folder))
        #expect(run.standardOutput.contains("The reference broke off 2 times"), "\(run.standardOutput)")
        let summary = try ChildProcess.run(Self.command(folder) + ["--json"]).json?.last
        #expect(summary?["reference_gaps"] as? Int == 2)
    }

    @Test("what the canceller decided is counted and on the page, and its linear stage can be had by itself")
    func decisions() throws {
        let (far, echo) = Self.noise(seconds: 4, delay: 1_600)
        let folder = try Self.folder(far, echo)
        let linear = try ChildProcess.run(
            Self.command(folder) + ["--stage", "linear", "--json", "--report", folder("report")])
        let summary = try #require(linear.json?.last)
        #expect(summary["library"] as? String == "native, linear stage alone")
        #expect(summary["delay_choices"] as? Int == 1 && summary["lost_paths"] as? Int == 0, "\(summary)")
        let page = try String(contentsOfFile: folder("report/index.html"), encoding: .utf8)
        #expect(page.contains("<td>delay found at ") && page.contains("<h2>Decisions</h2>"))
        let csv = try String(contentsOfFile: folder("report/index.csv"), encoding: .utf8)
        let lines = csv.split(separator: "\n").map { $0.split(separator: ",", omittingEmptySubsequences: false) }
        #expect(lines.allSatisfy { $0.count == lines[0].count })
        #expect(lines[0].suffix(2) == ["caution", "decision"] && lines.contains { $0.last?.contains("found") == true })
        // Others tell nothing, and have no such stage.
        let other = try ChildProcess.run(Self.command(folder) + ["--backend", "speexDSP", "--json"])
        #expect(other.json?.last?["delay_choices"] == nil && other.exitCode == 0)
        expectFailure(
            try ChildProcess.run(Self.command(folder) + ["--backend", "speexDSP", "--stage", "linear"]), code: 64,
            saying: "--stage linear is what --backend native has")
    }

    @Test("the largest numbers that a file can hold are processed, and drawn")
    func hugeSamples() throws {
        let folder = try TestFolder()
        let steps = (0..<44_100).map { Float($0 / 40 % 2 == 0 ? 3.3e38 : -3.3e38) }
        try AudioFile.write(steps, to: folder("mic.wav"), sampleRate: 44_100, encoding: .float32)
        try folder.speak("ref.wav", seconds: 1, seed: 3)
        let run = try ChildProcess.run([
            "aec", "--mic", folder("mic.wav"), "--ref", folder("ref.wav"), "--out", folder("o.wav"), "--report",
            folder("report"),
        ])
        #expect(run.exitCode == 0, "\(run.standardError)")
        #expect(FileManager.default.fileExists(atPath: folder("report/index.html")))
    }

    @Test("a delay that jumps does not drift")
    func jump() throws {
        let (far, early) = Self.noise(seconds: 14, delay: 800)
        var echo = early
        let late = Self.noise(seconds: 14, delay: 2_400).echo
        for index in 7 * Self.rate..<echo.count { echo[index] = late[index] }
        let folder = try Self.folder(far, echo)
        let run = try ChildProcess.run(Self.command(folder) + ["--json"])
        #expect(abs(run.json?.last?["drift_ppm"] as? Double ?? 99) < 5)
    }

    @Test("the drift of a delay that jumps as well, in steps as it is told", arguments: [-200, 0, 50, 500])
    func drift(ppm: Int) throws {
        // Given 20 s in which the delay is known but for their first 0.3 s, jumps after 12 s, and is known to 1/16 ms
        let delays = (0..<2_000).map { block in
            let delay = 40 + Double(block) * 10 * Double(ppm) / 1e6 + (block < 1_200 ? 0 : 80)
            return block < 30 ? .nan : (delay * 16).rounded() / 16
        }
        #expect(abs(try #require(AecTrace.driftPPM(of: delays)) - Double(ppm)) < 5)
    }

    @Test("no drift is known of a delay that never stays for 5 s")
    func restless() {
        let delays = (0..<3_000).map { Double($0 / 400 * 20) }
        #expect(AecTrace.driftPPM(of: delays) == nil)
        #expect(AecTrace.driftPPM(of: Array(repeating: 40, count: 499)) == nil)
        #expect(AecTrace.driftPPM(of: Array(repeating: 40, count: 500)) == 0)
    }

    @Test("the output is a WAV file and is called one")
    func extensions() throws {
        let folder = try TestFolder()
        try folder.speak("m.wav", seconds: 0.2, seed: 1)
        for name in ["o.flac", "o.mp3"] {
            let aec = ["aec", "--mic", folder("m.wav"), "--ref", folder("m.wav"), "--out", folder(name)]
            expectFailure(try ChildProcess.run(aec), code: 64, saying: "only WAV files are written")
            let call = ["call", "--server", "udp://127.0.0.1:1", "--token", "t", "--input", folder("m.wav")]
            expectFailure(
                try ChildProcess.run(call + ["--output", folder(name)]), code: 64, saying: "only WAV files are written")
            #expect(!FileManager.default.fileExists(atPath: folder(name)))
        }
    }

    @Test(
        "the output has one channel and, of a microphone of another rate than 16, 32 and 48 kHz, 48 kHz; the help says so"
    )
    func outputFormat() throws {
        let folder = try TestFolder()
        let (far, echo) = Self.noise(seconds: 2, delay: 800)
        try AudioFile.write(far, to: folder("ref.wav"), sampleRate: Self.rate)
        try AudioFile.write(echo, to: folder("mic.wav"), sampleRate: 22_050)
        #expect(try ChildProcess.run(Self.command(folder)).exitCode == 0)
        let output = try AudioFile.read(folder("o.wav"), convertedTo: nil)
        #expect(output.sampleRate == 48_000 && output.channels == 1)
        #expect(abs(output.samples.count - echo.count * 48_000 / 22_050) <= 1)
        // In lines of some width
        let help = try ChildProcess.run(["aec", "--help"]).standardOutput.split(whereSeparator: \.isWhitespace)
            .joined(separator: " ")
        for fact in ["one of another rate at 48 kHz", "mono, 16 bits", "0 to 600", "which is 9 dB", "below 75 Hz"] {
            #expect(help.contains(fact), "\(fact)")
        }
    }

    @Test("inputs that are taken otherwise than they may be meant are told of, one line each")
    func warnings() throws {
        let (far, echo) = Self.noise(seconds: 4, delay: 800)
        let folder = try Self.folder(far, echo)
        try AudioFile.write(Array(far[..<(2 * Self.rate)]), to: folder("half.wav"), sampleRate: Self.rate)
        try AudioFile.write(Array(far[..<(Self.rate / 2)]), to: folder("short.wav"), sampleRate: Self.rate)
        try AudioFile.write(far, to: folder("slow.wav"), sampleRate: 15_000)
        try Self.writeStereo(far, far.map { -$0 }, to: folder("turned.wav"))
        try Self.writeStereo(far, far, to: folder("stereo.wav"))
        func said(_ mic: String, _ ref: String) throws -> [Substring] {
            let run = try ChildProcess.run([
                "aec", "--mic", folder(mic), "--ref", folder(ref), "--out", folder("o.wav"),
            ])
            #expect(run.exitCode == 0)
            return run.standardError.split(separator: "\n")
        }
        for (mic, ref, saying) in [
            ("mic.wav", "half.wav", "half.wav' is 2.0 s shorter than"),
            ("half.wav", "ref.wav", "ref.wav' is 2.0 s longer than"),
            ("short.wav", "short.wav", "it lasts 0.5 s, and the far end is heard for 0.4"),
            ("mic.wav", "slow.wav", "slow.wav' (15000 Hz) is converted to 16000 Hz"),
            ("mic.wav", "turned.wav", "turned.wav' cancel each other"),
        ] {
            let lines = try said(mic, ref)
            #expect(lines.count == 1 && lines.first?.contains(saying) == true, "\(lines)")
        }
        #expect(try said("mic.wav", "ref.wav") == [])
        #expect(try said("mic.wav", "stereo.wav") == [])
    }

    /// A WAV file of 16 bits and two channels.
    private static func writeStereo(_ left: [Float], _ right: [Float], to path: String) throws {
        var data = Data("RIFF".utf8)
        func add(_ value: Int, _ bytes: Int) { for byte in 0..<bytes { data.append(UInt8(value >> (8 * byte) & 255)) } }
        add(36 + 4 * left.count, 4)
        data += Data("WAVEfmt ".utf8)
        for (value, bytes) in [(16, 4), (1, 2), (2, 2), (rate, 4), (4 * rate, 4), (4, 2), (16, 2)] { add(value, bytes) }
        data += Data("data".utf8)
        add(4 * left.count, 4)
        for (first, second) in zip(left, right) { for value in [first, second] { add(Int(value * 32_767), 2) } }
        try data.write(to: URL(filePath: path))
    }

    @Test(
        "what was asked for and is not done is told, and nothing else",
        arguments: [
            ("bypass", ["--echo", "aggressive", "--noise", "high"], ["--echo aggressive", "--noise high"]),
            ("bypass", ["--gain", "adaptive"], ["--gain adaptive"]), ("bypass", [], []), ("speexDSP", [], []),
            ("speexDSP", ["--noise", "low", "--gain", "adaptive"], []),
            ("native", ["--echo", "aggressive", "--noise", "low", "--gain", "fixed"], []),
        ])
    func unmet(backend: String, options: [String], told: [String]) throws {
        let folder = try TestFolder()
        try folder.speak("mic.wav", seconds: 2, seed: 1)
        try folder.speak("ref.wav", seconds: 2, seed: 2)
        let run = try ChildProcess.run(Self.command(folder) + ["--backend", backend] + options)
        #expect(run.exitCode == 0)
        let lines = run.standardError.split(separator: "\n")
        #expect(lines.count == told.count)
        for (line, option) in zip(lines, told) { #expect(line.contains("\(option) is taken as off by \(backend)")) }
    }
}
