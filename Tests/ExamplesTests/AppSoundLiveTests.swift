import Foundation
import Synchronization
import Testing
import VoiceEngine
import VoiceSimulation

@testable import AppSound

@Suite("Example: sound as apps want it", .serialized, .timeLimit(.minutes(2)))
struct AppSoundLiveTests {
    private let talker = SpeechSource(SyntheticSpeech(seed: 1))

    @Test("an announcement is heard to its end, and the meters show it")
    func announced() async throws {
        let engine = try engine(hearing: talker)
        try await engine.start()
        // Given 0.6 s of speech as a WAV file
        let words = SyntheticSpeech.samples(frames: 9_600, seed: 3, voice: .low, levelDecibels: -20)
        let file = SpeechChunk(samples: words).waveFile
        let shown = Mutex<[String]>([])
        let meters = Task { try await watchLevels(of: engine) { line in shown.withLock { $0.append(line) } } }
        // When it is announced
        let played = try #require(try await announce(.bytes(file), on: engine))
        #expect(played.isComplete)
        #expect(played.heard == .milliseconds(600))
        await engine.stop()
        try await meters.value
        #expect(shown.withLock { $0 }.contains { $0.hasPrefix("near ") && $0.contains("far -") })
        // And what is no sound says so
        try await engine.start()
        await #expect(throws: AudioFileError.self) { try await announce(.bytes([1, 2, 3]), on: engine) }
        await engine.stop()
    }

    @Test("the loudest sample of the microphone is held, and what comes later is not measured")
    func peakHeld() async throws {
        let engine = try engine(hearing: talker)
        try await engine.start()
        let (captured, _) = try await beforeAndAfter(.milliseconds(500), on: engine)
        #expect(captured.count == 24_000)
        let loudest = try await peak(of: engine) {
            let (before, _) = try await beforeAndAfter(.milliseconds(1_000), on: engine)
            #expect(before.contains { abs($0) > 0.01 })
        }
        #expect((0.01...1).contains(loudest), "\(loudest)")
        #expect(try await peak(of: engine) {} < 2)
        await engine.stop()
    }

    @Test("a session is recorded into a folder, and is run again bit for bit")
    func recorded() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "report-\(UUID().uuidString)").path()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let configuration = try engine(hearing: talker).configuration
        let status = try await record(folder, configuration) { engine in
            let words = SyntheticSpeech.samples(frames: 48_000, seed: 3, voice: .low, levelDecibels: -20)
            _ = try await announce(.bytes(SpeechChunk(samples: words).waveFile), on: engine)
        }
        #expect(try #require(status).lostRuns == 0 && status?.end == nil)
        let report = try Replay(folder: folder).run()
        #expect(report.isExact, "\(report)")
    }

    @Test("a recogniser gets what is said, as WAV files; and both ends of the processing can be heard")
    func dictated() async throws {
        let engine = try engine(hearing: talker)
        try await engine.start()
        let files = Mutex<[[UInt8]]>([])
        let dictation = Task { try await dictate(on: engine) { file in files.withLock { $0.append(file) } } }
        let (captured, processed) = try await beforeAndAfter(.milliseconds(1_500), on: engine)
        #expect(captured.count == 72_000 && processed.count == 72_000)
        #expect(captured.contains { abs($0) > 0.01 } && processed.contains { abs($0) > 0.01 })
        // What was not complete comes when the engine stops
        await engine.stop()
        try await dictation.value
        let given = files.withLock { $0 }
        #expect(!given.isEmpty && given.allSatisfy { $0.starts(with: Array("RIFF".utf8)) })
    }

    @Test("an answer's words are shown as they are heard, and the history has them when it is over, and goes on later")
    func remembered() async throws {
        // Given somebody who says something once
        let engine = try engine(hearing: somebody)
        try await engine.start()
        let shown = Mutex<[Caption]>([])
        let sound = SpeechChunk(samples: (0..<4_800).map { $0 % 80 < 40 ? 0.05 : -0.05 }).waveFile
        // When it is answered
        let answering = Task {
            try await answer([("Good morning.", .bytes(sound)), ("How are you?", .bytes(sound))], on: engine) { words in
                shown.withLock { $0.append(words) }
            }
        }
        while !shown.withLock({ $0.contains { $0.isFinal && $0.heard == "Good morning. How are you? " } }) {
            try await Task.sleep(for: .milliseconds(20))
        }
        await engine.stop()
        let history = try await answering.value
        // Then it is known what was heard
        let turn = try #require(history.turns.first { $0.answer?.end == .complete })
        #expect(turn.answer?.heard == "Good morning. How are you? " && turn.answer?.heardMilliseconds == 600)
        #expect(turn.said?.hasSuffix("of speech)") == true)
        // And a conversation that resumes it numbers on
        try await engine.start()
        let resumed = try await engine.converse(resuming: history)
        #expect(resumed.history == history)
        #expect(try resumed.answer(nil).turn.rawValue == history.lastTurn + 1)
        await engine.stop()
    }
}
