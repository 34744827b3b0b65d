import Dispatch
import Foundation
import Testing
import VoiceDevices

@testable import duplex

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

    @Test("a pipe that somebody has made non-blocking gets every word, however slow its reader is")
    func nonBlocking() async throws {
        // Given a pipe that holds less than what is written
        var ends: [Int32] = [0, 0]
        let made = unsafe pipe(&ends)
        try #require(made == 0)
        let (reader, writer) = (ends[0], ends[1])
        try #require(fcntl(writer, F_SETFL, O_NONBLOCK) == 0)
        let text = String(repeating: "a line of a result\n", count: 50_000)
        // When it is read meanwhile
        async let heard = withCheckedContinuation { (done: CheckedContinuation<[UInt8], Never>) in
            DispatchQueue.global().async { done.resume(returning: Self.all(of: reader)) }
        }
        let failure = await withCheckedContinuation { (done: CheckedContinuation<Int32, Never>) in
            DispatchQueue.global().async {
                let failure = OutputFile.write(text, to: writer)
                close(writer)
                done.resume(returning: failure)
            }
        }
        // Then nothing is missing
        let whole = await heard
        close(reader)
        #expect(failure == 0)
        #expect(whole == Array(text.utf8))
    }

    private static func all(of descriptor: Int32) -> [UInt8] {
        var all: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = unsafe read(descriptor, &part, part.count)
            guard count > 0 else { return all }
            all += part[..<count]
        }
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
