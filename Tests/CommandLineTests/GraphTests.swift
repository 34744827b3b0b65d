import Foundation
import Testing
import VoiceDevices
import VoiceSimulation

@Suite("Audio graphs on the command line")
struct GraphTests {
    private static let graph = """
        {"type": "VoiceGraph", "config": {"microphoneEnabled": true, "speakerEnabled": true, "graph": {
          "config": {"sampleRate": 16000, "bufferSize": 512},
          "nodes": [{"id": "vad", "type": "SileroVAD.SileroVAD"}, {"id": "sink", "type": "WavSink", "config": {"path": "kept.wav"}}],
          "connections": [{"sourceNode": "inputNode", "destinationNode": "vad"}, {"sourceNode": "inputNode", "destinationNode": "sink"},
            {"sourceNode": "inputNode", "destinationNode": "outputNode"}, {"sourceNode": "vad.end", "destinationNode": "sink.stop"}]}}}
        """

    @Test("run over a file tells events as NDJSON, and a summary last")
    func run() throws {
        let folder = try TestFolder()
        try Data(Self.graph.utf8).write(to: URL(filePath: folder("graph.json")))
        let quiet = [Float](repeating: 0, count: 16_000)
        let speech = SyntheticSpeech.samples(frames: 96_000, seed: 7)
        try AudioFile.write(quiet + speech + quiet + quiet + quiet, to: folder("in.wav"))
        let result = try ChildProcess.run([
            "graph", "run", folder("graph.json"), "--input", folder("in.wav"), "--output", folder("out.wav"),
            "--folder", folder.path, "--json",
        ])
        #expect(result.exitCode == 0, "\(result.standardError)")
        let lines = try #require(result.json)
        let names = lines.compactMap { $0["event"] as? String }
        #expect(
            names.contains("start") && names.contains("end") && names.contains("notice") && names.last == "finished")
        #expect(lines.last?["type"] as? String == "summary")
        let seconds = try #require(lines.last?["seconds"] as? Double)
        #expect(abs(seconds - 160_000 / 48_000) < 0.001)
        let output = try AudioFile.read(folder("out.wav"), convertedTo: nil)
        #expect(output.sampleRate == 16_000 && abs(output.samples.count - 53_334) <= 1)
        // The sink was stopped by the end of speech.
        let kept = try AudioFile.read(folder("kept.wav"), convertedTo: nil)
        #expect(kept.samples.count < output.samples.count)
    }

    @Test("run refuses an output that a sink of the graph writes too, by whatever name")
    func sameFile() throws {
        let folder = try TestFolder()
        try Data(Self.graph.utf8).write(to: URL(filePath: folder("graph.json")))
        try folder.speak("in.wav", seconds: 0.2, seed: 7)
        let result = try ChildProcess.run([
            "graph", "run", folder("graph.json"), "--input", folder("in.wav"), "--folder", folder.path,
            "--output", folder.path + "/./kept.wav",
        ])
        expectFailure(result, code: 64, saying: "is the file of --output too")
        #expect(!FileManager.default.fileExists(atPath: folder("kept.wav")))
    }

    @Test("check names every fault and exits with 66; draw gives SVG whose text is escaped")
    func checkAndDraw() throws {
        let folder = try TestFolder()
        let bad = Self.graph.replacingOccurrences(of: "\"vad.end\"", with: "\"vad.<end>\"")
            .replacingOccurrences(of: "\"kept.wav\"", with: "\"../kept.wav\"")
        try Data(bad.utf8).write(to: URL(filePath: folder("bad.json")))
        let refused = try ChildProcess.run(["graph", "check", folder("bad.json")])
        #expect(refused.exitCode == 66)
        #expect(
            refused.standardError.contains("node 'sink', 'path'")
        )
        #expect(refused.standardError.contains("VAD has no '<end>'; use start, end"))
        let good = Self.graph.replacingOccurrences(of: "\"kept.wav\"", with: "\"a<b&c.wav\"")
        try Data(good.utf8).write(to: URL(filePath: folder("good.json")))
        let checked = try ChildProcess.run(["graph", "check", folder("good.json")])
        #expect(checked.exitCode == 0 && checked.standardOutput.contains("stands in for SileroVAD.SileroVAD"))
        let drawn = try ChildProcess.run(["graph", "draw", folder("good.json")])
        #expect(drawn.exitCode == 0)
        #expect(drawn.standardOutput.contains("a&lt;b&amp;c.wav") && drawn.standardOutput.contains("end → stop"))
        #expect(drawn.standardOutput.hasPrefix("<svg") && drawn.standardOutput.contains("</svg>"))
        let missing = try ChildProcess.run(["graph", "check", folder("none.json")])
        #expect(missing.exitCode == 66 && missing.standardError.hasPrefix("error: the graph '"), "\(missing)")
    }

    @Test(
        "run refuses what to listen for where nothing listens", arguments: [["--grammar", "g"], ["--dictation"]]
    )
    func nobodyListens(_ options: [String]) throws {
        let folder = try TestFolder()
        try folder.write(Array(Self.graph.utf8), to: "graph.json")
        try folder.speak("in.wav", seconds: 0.2, seed: 7)
        let run = try ChildProcess.run(
            ["graph", "run", folder("graph.json"), "--input", folder("in.wav"), "--folder", folder.path] + options)
        expectFailure(run, code: 64, saying: "has no Recogniser, which")
    }

    @Test("draw blames a full disk on the option that names the file")
    func drawOnFullDisk() throws {
        let folder = try TestFolder()
        try folder.write(Array(Self.graph.utf8), to: "graph.json")
        let drawn = try ChildProcess.run(["graph", "draw", folder("graph.json"), "--output", "/dev/full"])
        expectFailure(drawn, code: 1, saying: "No space left on device; check --output")
    }

    @Test("run ends with 1 where a sink has no place, before anything runs, or cannot write all")
    func unwritten() throws {
        let folder = try TestFolder()
        let sink = """
            {"type": "VoiceGraph", "config": {"microphoneEnabled": true, "graph": {
              "nodes": [{"id": "sink", "type": "WavSink", "config": {"path": "kept.wav"}}],
              "connections": [{"sourceNode": "inputNode", "destinationNode": "sink"}]}}}
            """
        try folder.write(Array(sink.utf8), to: "graph.json")
        // A minute, 1.9 MB
        try AudioFile.write([Float](repeating: 0, count: 960_000), to: folder("in.wav"), sampleRate: 16_000)
        let run = ["graph", "run", folder("graph.json"), "--input", folder("in.wav"), "--folder"]
        let homeless = try ChildProcess.run(run + [folder("absent")])
        expectFailure(homeless, code: 1, saying: "there is no folder '\(folder("absent"))'")
        #expect(homeless.standardOutput.isEmpty)
        // In blocks of 512 bytes
        let limited = ["/bin/sh", "-c", "ulimit -f 2048; exec \"$0\" \"$@\""]
        let full = try ChildProcess(run + [folder.path], through: limited).wait()
        expectFailure(full, code: 1, saying: "sink: '\(folder.path)/kept.wav' cannot be written")
        #expect(full.standardOutput.contains("sink.failed"), "\(full.standardOutput)")
    }

    @Test("run makes no file where its input is none", arguments: ["absent.wav", "graph.json", "empty.wav"])
    func noInput(_ input: String) throws {
        let folder = try TestFolder()
        try folder.write(Array(Self.graph.utf8), to: "graph.json")
        try AudioFile.write([], to: folder("empty.wav"))
        try folder.write([1, 2, 3], to: "kept.wav")
        let run = try ChildProcess.run([
            "graph", "run", folder("graph.json"), "--input", folder(input), "--folder", folder.path,
        ])
        expectFailure(run, code: 66, saying: folder(input))
        #expect(try Data(contentsOf: URL(filePath: folder("kept.wav"))) == Data([1, 2, 3]))
    }
}
