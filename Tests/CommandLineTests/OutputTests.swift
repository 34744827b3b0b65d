import Foundation
import Testing
import VoiceDevices

@Suite("Output that cannot be written is told, and nothing else is harmed")
struct OutputTests {
    @Test("stdout on a full disk, with exit code 1", arguments: [["devices"], ["devices", "--json"], ["doctor"]])
    func fullDisk(_ arguments: [String]) throws {
        let result = try ChildProcess.run(arguments, output: "/dev/full")
        expectFailure(result, code: 1, saying: "stdout cannot be written: No space left on device")
    }

    @Test(
        "a WAV file on a full disk, in no folder, or named as a folder", arguments: ["/dev/full", "absent/o.wav", "."])
    func unwritable(_ output: String) throws {
        let folder = try TestFolder()
        try folder.speak("m.wav", seconds: 0.2, seed: 1)
        try folder.speak("r.wav", seconds: 0.2, seed: 2)
        let path = output.hasPrefix("/") ? output : folder(output)
        let aec = ["aec", "--mic", folder("m.wav"), "--ref", folder("r.wav"), "--out", path]
        expectFailure(try ChildProcess.run(aec), code: 1, saying: path)
    }

    @Test("the input is never overwritten, by whatever name")
    func ownInput() throws {
        let folder = try TestFolder()
        let spoken = try folder.speak("same.wav", seconds: 0.2, seed: 1)
        let before = try AudioFile.read(folder("same.wav"))
        let alias = folder.path + "/./same.wav"
        let commands = [
            ["aec", "--mic", folder("same.wav"), "--ref", folder("same.wav"), "--out", alias],
            [
                "call", "--server", "udp://127.0.0.1:1", "--token", "t", "--input", folder("same.wav"), "--output",
                alias,
            ],
        ]
        for command in commands {
            expectFailure(try ChildProcess.run(command), code: 64, saying: "choose another file")
            #expect(try AudioFile.read(folder("same.wav")) == before)
        }
        #expect(before.samples.count == spoken.count)
    }
}
