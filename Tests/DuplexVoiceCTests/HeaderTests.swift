import CDuplexVoice
import Foundation
import TestCases
import Testing
import VoiceDevices

extension LibraryTests {
    @Suite("Header and example")
    struct HeaderTests {
        private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()

        /// The compiler checks each signature against the header (`@implementation`); tools/package-c, what the library
        /// exports.
        @Test("Swift implements what the header declares, and nothing else")
        func declarations() throws {
            let header = try String(
                contentsOf: Self.root.appending(path: "Sources/CDuplexVoice/include/duplexvoice.h"), encoding: .utf8)
            let code = header.split(separator: "\n").filter { $0.first?.isLetter == true }
            let declared = code.flatMap { $0.matches(of: /\b(dv_\w+)\(/).map { String($0.1) } }
            let sources = Self.root.appending(path: "Sources/DuplexVoiceC")
            var implemented: [String] = []
            for case let name as String in try #require(FileManager.default.enumerator(atPath: sources.path()))
            where name.hasSuffix(".swift") {
                let text = try String(contentsOf: sources.appending(path: name), encoding: .utf8)
                implemented += text.matches(of: /@c @implementation(?: @_noLocks @_noAllocation)?\npublic func (\w+)\(/)
                    .map { String($0.1) }
            }
            #expect(declared.contains("dv_processor_run") && declared.count == Set(declared).count)
            #expect(declared.sorted() == implemented.sorted())
        }

        @Test("the version is the header's")
        func version() { #expect(dv_version() == 0x000100) }

        /// Runs a program that was built beside the tests.
        private static func run(_ program: String, _ arguments: [String]) throws -> (status: Int32, output: String) {
            let ended = try TestProgram.run(TestProgram.built(program), arguments, errors: .withOutput)
            return (ended.status, ended.text)
        }

        @Test("Examples/CGraph prints what a graph tells of a file, and what is wrong with a description")
        func graphExample() throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "duplexvoice-\(UUID())")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            func path(_ name: String) -> String { folder.appending(path: name).path() }
            try AudioFile.write(
                [Float](repeating: 0.5, count: 8_000), to: path("tone.wav"), sampleRate: 16_000, encoding: .float32)
            let graph = LibraryTests.GraphTests.description(
                "{\"id\": \"meter\", \"type\": \"LevelMeter\"}", [("inputNode", "meter")])
            try graph.write(toFile: path("meter.json"), atomically: true, encoding: .utf8)
            let (status, output) = try Self.run("CGraph", [path("meter.json"), path("tone.wav")])
            #expect(status == 0)
            #expect(output.contains("meter.level  end 0.20  rmsDb -6.02  start 0.10\n"), "\(output)")
            #expect(output.hasSuffix("engine.finished\n8000 frames\n"), "\(output)")
            try graph.replacing("LevelMeter", with: "Tea").write(
                toFile: path("tea.json"), atomically: true, encoding: .utf8)
            let refused = try Self.run("CGraph", [path("tea.json"), path("tone.wav")])
            #expect(refused.status == 1 && refused.output.contains("node 'meter', 'type'"), "\(refused)")
            // Of a file that is too long nothing is taken, though what is cut off would say nothing.
            try (graph + String(repeating: " ", count: 262_144)).write(
                toFile: path("long.json"), atomically: true, encoding: .utf8)
            let long = try Self.run("CGraph", [path("long.json"), path("tone.wav")])
            #expect(long.status == 66 && long.output.contains("long.json is longer than 262144 bytes"), "\(long)")
        }

        @Test("Examples/CProcessor writes what the library gives")
        func example() throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "duplexvoice-\(UUID())")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            func path(_ name: String) -> String { folder.appending(path: name).path() }
            let played = (0..<48_000).map { 0.3 * sinf(Float($0 * $0 % 9_973)) }
            let heard = played.indices.map { $0 < 900 ? 0 : 0.5 * played[$0 - 900] }
            try AudioFile.write(heard, to: path("mic.wav"), encoding: .float32)
            try AudioFile.write(played, to: path("ref.wav"), encoding: .float32)

            #expect(try Self.run("CProcessor", [path("mic.wav"), path("ref.wav"), path("out.wav")]).status == 0)

            let processor = try CProcessor(preset: DV_PRESET_VOICE_CHAT)
            let delay = processor.delay
            let silence = [Float](repeating: 0, count: delay)
            let expected = processor.run(heard + silence, played + silence, calls: repeatElement(512, count: 200))
            let written = try AudioFile.read(path("out.wav")).samples
            #expect(written.count == heard.count)
            #expect(written == Array(expected.dropFirst(delay)))
        }
    }
}
