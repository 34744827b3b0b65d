import Foundation
import Testing
import VoiceDevices

@Suite("A file that is no sound is told with its name")
struct InputFileTests {
    private static let header: [UInt8] = Array("RIFF".utf8) + [36, 0, 0, 0] + Array("WAVEfmt ".utf8)

    static let inputs: [(name: String, bytes: [UInt8]?, saying: String)] = [
        ("absent.wav", nil, "there is no file"),
        ("empty.wav", [], "is not an audio file"),
        ("text.wav", Array("This is a text about sound, and no sound.\n".utf8), "is not an audio file"),
        ("cut-header.wav", header, "is not an audio file"),
        ("", nil, "is a folder"),
    ]

    @Test("given as the microphone of aec, of a call or of a talk, with exit code 66", arguments: inputs)
    func unusable(name: String, bytes: [UInt8]?, saying: String) throws {
        let folder = try TestFolder()
        if let bytes { try folder.write(bytes, to: name) }
        try folder.speak("good.wav", seconds: 0.1, seed: 1)
        let commands = [
            ["aec", "--mic", folder(name), "--ref", folder("good.wav"), "--out", folder("o.wav"), "--json"],
            ["aec", "--mic", folder("good.wav"), "--ref", folder(name), "--out", folder("o.wav"), "--json"],
            ["call", "--server", "udp://127.0.0.1:1", "--token", "t", "--input", folder(name), "--json"],
            ["talk", "--offline", "--input", folder(name), "--json"],
        ]
        for command in commands {
            let result = try ChildProcess.run(command)
            expectFailure(result, code: 66, saying: saying)
            #expect(result.standardError.contains(folder(name)))
            #expect(result.standardOutput.isEmpty)
        }
    }

    @Test("a pipe or a device is refused, and not waited for", arguments: ["pipe", "/dev/zero"])
    func noFile(name: String) throws {
        let folder = try TestFolder()
        try folder.speak("good.wav", seconds: 0.1, seed: 1)
        let made = unsafe mkfifo(folder("pipe"), 0o600)
        try #require(made == 0)
        let path = name.hasPrefix("/") ? name : folder(name)
        let good = folder("good.wav")
        for command in [
            ["aec", "--mic", path, "--ref", good, "--out", folder("o.wav")],
            ["aec", "--mic", good, "--ref", path, "--out", folder("o.wav")],
            ["call", "--server", "udp://127.0.0.1:1", "--token", "t", "--input", path],
        ] { expectFailure(try ChildProcess.run(command), code: 66, saying: "is no file but a") }
    }

    @Test("as is one without a single frame")
    func silent() throws {
        let folder = try TestFolder()
        try AudioFile.write([], to: folder("empty.wav"))
        try folder.speak("good.wav", seconds: 0.1, seed: 1)
        let aec = try ChildProcess.run([
            "aec", "--mic", folder("empty.wav"), "--ref", folder("good.wav"), "--out", folder("o.wav"),
        ])
        expectFailure(aec, code: 66, saying: "holds no sound")
        let call = try ChildProcess.run([
            "call", "--server", "udp://127.0.0.1:1", "--token", "t", "--input", folder("empty.wav"),
        ])
        expectFailure(call, code: 66, saying: "holds no sound")
        let talk = try ChildProcess.run(["talk", "--offline", "--input", folder("empty.wav")])
        expectFailure(talk, code: 66, saying: "holds no sound")
    }

    @Test("a secret that is none")
    func secrets() throws {
        let folder = try TestFolder()
        let secrets: [(bytes: [UInt8]?, saying: String)] = [
            (nil, "No such file"), (Array("short\n".utf8), "has 5 bytes"), ([], "has 0 bytes"),
            ([UInt8](repeating: 0, count: 64), "holds no text"),
        ]
        for (bytes, saying) in secrets {
            if let bytes { try folder.write(bytes, to: "other") }
            let result = try ChildProcess.run(["room", "serve", "--port", "0", "--secret-file", folder("other")])
            expectFailure(result, code: 66, saying: saying)
        }
        let environment = try ChildProcess.run(
            ["room", "serve", "--port", "0"], environment: ["DUPLEX_ROOM_SECRET": "short"])
        expectFailure(environment, code: 66, saying: "has 5 bytes")
    }
}
