import Foundation
import Testing
import VoiceDevices

@Suite("Output of a call that cannot be written is told, and nothing else is harmed")
struct OutputLiveTests {
    @Test("a call's recording on a full disk ends the call")
    func fullDiskInCall() throws {
        let folder = try TestFolder()
        let server = try RunningServer(in: folder)
        try folder.speak("in.wav", seconds: 1, seed: 1)
        let call = server.call(token: try server.token("a"), "--input", folder("in.wav"), "--output", "/dev/full")
        let result = try ChildProcess.run(call)
        expectFailure(result, code: 1, saying: "'/dev/full'")
        #expect(result.json != nil)
        _ = server.stop()
    }

    @Test("a call whose events nobody reads any more ends, and its recording is whole")
    func closedPipe() throws {
        let folder = try TestFolder()
        let server = try RunningServer(in: folder)
        try folder.speak("in.wav", seconds: 20, seed: 1)
        var call = try ChildProcess(
            server.call(token: try server.token("a"), "--input", folder("in.wav"), "--output", folder("out.wav")))
        _ = try call.event("joined")
        call.stopReading()
        let result = call.wait()
        #expect(result.exitCode == 1)
        #expect(result.standardError.isEmpty)
        #expect(try AudioFile.read(folder("out.wav")).samples.count > 0)
        _ = server.stop()
    }

    @Test("Control-C ends a call, which leaves the room and completes its recording")
    func interrupted() throws {
        let folder = try TestFolder()
        let server = try RunningServer(in: folder)
        try folder.speak("in.wav", seconds: 20, seed: 1)
        var call = try ChildProcess(
            server.call(token: try server.token("a"), "--input", folder("in.wav"), "--output", folder("out.wav")))
        _ = try call.event("speech_started")
        call.interrupt()
        let result = call.wait()
        #expect(result.exitCode == 0)
        #expect(result.standardError.isEmpty)
        let summary = try #require(result.json?.last)
        #expect(summary["type"] as? String == "summary")
        #expect(summary["ending"] as? String == "interrupted")
        let recorded = try AudioFile.read(folder("out.wav"))
        #expect(recorded.samples.count > 0 && recorded.samples.count < 20 * 48_000)
        #expect(recorded.sampleRate == 48_000)
        let served = server.stop()
        #expect(served.exitCode == 0)
        #expect(served.json?.contains { $0["type"] as? String == "participant_left" } == true)
    }

    @Test("a terminal that is closed ends a call, but not one that was begun by nohup", arguments: [false, true])
    func hangUp(isNohup: Bool) throws {
        let folder = try TestFolder()
        let server = try RunningServer(in: folder)
        try folder.speak("in.wav", seconds: 60, seed: 1)
        var call = try ChildProcess(
            server.call(token: try server.token("a"), "--input", folder("in.wav"), "--output", folder("out.wav")),
            through: isNohup ? ["/usr/bin/nohup"] : [])
        _ = try call.event("joined")
        call.hangUp()
        if isNohup {
            // Three seconds more
            for _ in 0..<3 { _ = try call.event("statistics") }
            call.interrupt()
        }
        let result = call.wait()
        #expect(result.exitCode == 0, "\(result.standardError)")
        #expect(result.json?.last?["ending"] as? String == "interrupted")
        _ = server.stop()
    }
}
