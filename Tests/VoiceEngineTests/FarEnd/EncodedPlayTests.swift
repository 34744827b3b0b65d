import Glibc
import Testing
import VoiceDevices
import VoiceRealtime

@testable import VoiceEngine

@Suite("Encoded sound of a far end")
struct EncodedPlayTests {
    /// A 16-bit WAV file of 48 kHz.
    private func wav(_ samples: [Float]) -> [UInt8] {
        func little(_ value: Int, _ bytes: Int) -> [UInt8] {
            (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        var bytes = Array("RIFF".utf8) + little(36 + samples.count * 2, 4) + Array("WAVEfmt ".utf8) + little(16, 4)
        bytes += little(1, 2) + little(1, 2) + little(48_000, 4) + little(96_000, 4) + little(2, 2) + little(16, 2)
        bytes += Array("data".utf8) + little(samples.count * 2, 4)
        for sample in samples { bytes += little(Int((sample * 32_768).rounded()), 2) }
        return bytes
    }

    private func ramp(_ frames: Int) -> [Float] { (0..<frames).map { Float($0 % 10_000 + 1) / 32_768 } }

    @Test("is heard whole, parts of one utterance behind each other")
    func played() async throws {
        let rig = try FarEndRig()
        let agent = try rig.core.openFarEnd(FarEndConfiguration())
        rig.run(blocks: 5)
        #expect(try await agent.play(encoded: .bytes(wav(ramp(12_345))), utterance: 1))
        #expect(try await agent.play(encoded: .bytes(wav(ramp(700))), utterance: 1))
        await agent.finish(1)
        rig.run(blocks: 40)
        let heard = rig.speaker.map(\.sample).filter { $0 != 0 }
        #expect(heard == ramp(12_345) + ramp(700))
    }

    @Test("waits while the queue is full, and ends with its utterance")
    func bounded() async throws {
        let rig = try FarEndRig()
        let agent = try rig.core.openFarEnd(FarEndConfiguration(queue: .milliseconds(200)))
        rig.run(blocks: 5)
        let sound = EncodedSound.bytes(wav(ramp(96_000)))
        let task = Task { try await agent.play(encoded: sound, utterance: 1) }
        var blocks = 0
        while (rig.statistics.farEnds.first?.played ?? .zero) < .milliseconds(500) {
            blocks += 1
            try #require(blocks < 10_000, "in 100 s of the card's time half a second was not played")
            rig.run(blocks: 1)
            for _ in 0..<100 { await Task.yield() }
            #expect(rig.statistics.farEnds.allSatisfy { $0.queued <= .milliseconds(210) })
        }
        agent.interrupt()
        rig.run(blocks: 2)
        #expect(try await task.value == false)
    }

    @Test("what is no sound is an error that says so, and nothing is heard")
    func refused() async throws {
        let rig = try FarEndRig()
        let agent = try rig.core.openFarEnd(FarEndConfiguration())
        let error = await #expect(throws: AudioFileError.self) {
            try await agent.play(encoded: .bytes(Array("no sound at all".utf8)), utterance: 1)
        }
        #expect(error?.code == .fileNotAudio)
        #expect(error?.description.contains("15 bytes in memory") == true)
        let missing = await #expect(throws: AudioFileError.self) {
            try await agent.play(encoded: .file("/nowhere/at-all.mp3"), utterance: 1)
        }
        #expect(missing == .missing(path: "/nowhere/at-all.mp3"))
        rig.run(blocks: 10)
        #expect(rig.speaker.allSatisfy { $0.sample == 0 })
    }
}
