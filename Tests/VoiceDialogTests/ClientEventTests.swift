import Foundation
import Testing

@testable import VoiceDialog

@Suite("The client's events")
struct ClientEventTests {
    /// Every kind of event with every member that it can have, over sessions of all sounds and turn detections.
    private static func events(_ generation: RealtimeSettings.Generation) -> [ClientEvent] {
        let tool = DialogTool(
            name: "weather", description: "Tells the weather.",
            parameters: ["type": "object", "properties": ["city": ["type": "string"]], "required": ["city"]])
        let whole = RealtimeSettings(
            generation: generation, turnDetection: .server(silence: .milliseconds(600)), instructions: "Be brief.",
            voice: "marin", transcription: "whisper-1", tools: [tool])
        return [
            .updateSession(RealtimeSettings(generation: generation)), .updateSession(whole),
            .updateSession(
                RealtimeSettings(
                    generation: generation, input: .muLaw, output: .aLaw, turnDetection: .semantic, isTextOnly: true)),
            .appendInput([1, 2, 3, 4]), .commitInput, .clearInput, .create(.user("hello")),
            .create(.assistant("good day")), .create(.call(DialogToolCall(id: "c1", name: "weather", arguments: "{}"))),
            .create(.result(callID: "c1", output: "rain")), .createResponse(tag: "7", isTextOnly: false),
            .createResponse(tag: "8", isTextOnly: true), .cancelResponse("r1"), .cancelResponse(nil),
            .truncate(item: "i1", contentIndex: 0, endMilliseconds: 1_234), .delete(item: "i1"),
            .createResponse(tag: "9", isTextOnly: false, instructions: "Say hello."),
        ]
    }

    /// `tools/realtime-conformance` has somebody else's models parse the same files.
    @Test("are those of the files that are tried on others' models", arguments: RealtimeSettings.Generation.allCases)
    func files(generation: RealtimeSettings.Generation) throws {
        let written = Self.events(generation).enumerated().map { number, event in
            String(decoding: event.encoded(generation, number: number + 1), as: UTF8.self)
        }
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "ClientEvents/\(generation.rawValue).ndjson")
        let kept = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
        #expect(kept == written, "the file should be:\n\(written.joined(separator: "\n"))")
    }
}
