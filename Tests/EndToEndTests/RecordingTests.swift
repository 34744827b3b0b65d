import Foundation
import SimulatedCalls
import Synchronization
import TestCases
import Testing
import VoiceSimulation

@testable import VoiceEngine

/// A folder for recordings that goes away with the test.
private final class RecordingFolder {
    let path = FileManager.default.temporaryDirectory.appending(path: "recording-\(UUID().uuidString)").path()

    deinit { try? FileManager.default.removeItem(atPath: path) }

    var file: String { "\(path)/\(RecordingFormat.fileName)" }

    var bytes: [UInt8] {
        get throws { Array(try Data(contentsOf: URL(filePath: file))) }
    }

    func write(_ bytes: [UInt8]) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try Data(bytes).write(to: URL(filePath: file))
    }

    func configuration(sound: Bool = true) -> RecordingConfiguration {
        RecordingConfiguration(folder: path, includesSound: sound)
    }
}

/// A recording in memory.
private final class MemoryStore: RecordingStore {
    private let kept = Mutex<[UInt8]>([])
    private let limit: Int

    /// Takes `limit` bytes, then is as a full disk is.
    init(limit: Int = .max) { self.limit = limit }

    var bytes: [UInt8] { kept.withLock { $0 } }

    func append(_ bytes: Span<UInt8>) throws(RecordingStoreError) {
        guard kept.withLock({ $0.count }) + bytes.count <= limit else { throw RecordingStoreError(errno: ENOSPC) }
        for index in bytes.indices { kept.withLock { $0.append(bytes[index]) } }
    }

    func close() {}
}

@Suite("A recorded call, run again")
struct RecordingTests {
    /// Length of the recorded call in an optimised build; DUPLEXVOICE_RECORDED_SECONDS makes it another.
    private static var recordedSeconds: Double {
        ProcessInfo.processInfo.environment["DUPLEXVOICE_RECORDED_SECONDS"].flatMap(Double.init) ?? 40
    }

    /// Two talkers over loudspeakers and a bad Wi-Fi.
    private static func configuration(seconds: Double, seed: UInt64 = 7) -> SimulatedCall.Configuration {
        let talk = Talk(
            a: [0.3...seconds * 0.6], b: [seconds * 0.2...seconds], length: seconds, seed: seed)
        var configuration = talk.overLoudspeakers
        configuration.network = .wifiLossy
        configuration.driftPPM = [80, -120]
        configuration.publishing = .anyone
        configuration.engine = .voiceAgent
        configuration.recorded = .seconds(1)
        return configuration
    }

    /// Runs a call with all that happens in one: others are muted, made quieter, interrupted; a sound card is
    /// exchanged.
    private static func run(_ configuration: SimulatedCall.Configuration, seconds: Double) throws -> SimulatedCall {
        let call = try SimulatedCall(configuration)
        let step = Duration.seconds(seconds / 6)
        call.run(for: step)
        call.setBargeIn(.staged(), .a)
        let farEnd = try call.openFarEnd(FarEndConfiguration(), .a)
        let speech = SyntheticSpeech.samples(frames: 48_000, seed: 3, voice: .low, levelDecibels: -26)
        _ = farEnd.offer(speech.span, utterance: UtteranceID(rawValue: 1))
        try call.setTalkerLevelling(TalkerLevelling(), .a)
        try call.apply(.narrowBand, .a)
        let music = try call.publish(stream: "music", .a)
        _ = music.offer(speech.span)
        call.run(for: step)
        try call.changeDevice(periodFrames: 240, .a)
        farEnd.interrupt()
        call.run(for: step)
        try call.apply(.voiceAgent, .a)
        if let stream = call.ownStream(.b) { try call.interrupt(stream, by: .a) }
        try call.beginUtterance(5, .a)
        call.run(for: step)
        try call.setMuted(true, as: .keepAlive, .a)
        _ = music.offer(speech.span)
        music.interrupt()
        _ = music.offer(speech.span)
        farEnd.close()
        call.run(for: step)
        try call.setMuted(false, .a)
        call.withdraw(music, .a)
        call.run(for: step)
        call.closeRecording(.a)
        return call
    }

    @Test(
        "Given a call with loss, a change of devices and interruptions, when its recording is run again, then every stage is the same to the bit"
    )
    func isExact() throws {
        // Given
        let seconds = isOptimised ? Self.recordedSeconds : 6.0
        let folder = RecordingFolder()
        var configuration = Self.configuration(seconds: seconds)
        configuration.recordings = [folder.configuration(), nil]
        let call = try Self.run(configuration, seconds: seconds)
        #expect(call.statistics(.a).streams.first?.playout.packetsLost ?? 0 > 0)
        // When
        let replay = try Replay(folder: folder.path)
        var frames: [Stage: Int] = [:]
        var played = 0
        var commands: [String] = []
        var events = 0
        replay.listen { frames[$0, default: 0] += $1.count }
        replay.onPlayback = { played += $0.count }
        replay.onDecision = { $0.kind == "command" ? commands.append($0.text) : (events += 1) }
        let report = replay.run()
        // Then
        #expect(report.isExact, "\(report)")
        if areAllocationsCounted { #expect(call.statistics(.a).media.allocations == 0) }
        #expect(report.duration > .seconds(seconds) - .milliseconds(100))
        let compared = Dictionary(uniqueKeysWithValues: report.stages.map { ($0.stage, $0.comparisons) })
        for stage in [Stage.point(.captured), .point(.processed), .point(.sent), .point(.mix), .playout, .packets] {
            #expect(compared[stage, default: 0] >= Int(seconds) - 3, "\(stage.name): \(compared)")
        }
        #expect(report.stages.contains { $0.stage.name.hasPrefix("participant-") && $0.comparisons > Int(seconds) - 4 })
        #expect(frames[.point(.captured), default: 0] > Int(seconds * 47_000))
        #expect(frames[.point(.mix), default: 0] > Int(seconds * 47_000))
        #expect(played > Int(seconds * 47_000))
        for name in [
            "publish", "changeCapture", "changePlayback", "setProcessing", "openFarEnd", "watchTalker", "flush",
            "openStream", "levelTalkers", "stopStream", "setSending",
        ] {
            #expect(commands.contains { $0.hasPrefix(name) }, "\(name): \(commands)")
        }
        #expect(events > 0)
    }

    @Test(
        "a recorder changes nothing of the call, and a conversation in this process can be run again as well",
        .enabled(if: isOptimised))
    func conversation() throws {
        func talk(_ recording: RecordingConfiguration?) throws -> SimulatedConversation {
            var part = [Float](repeating: 0, count: 48_000)
            part += SyntheticSpeech.samples(frames: 48_000, seed: 1, voice: .high, levelDecibels: -26)
            part += [Float](repeating: 0, count: 72_000)
            part += SyntheticSpeech.samples(frames: 72_000, seed: 2, voice: .high, levelDecibels: -26)
            var configuration = SimulatedConversation.Configuration(
                talker: SpeechSource(part, repetition: .once))
            configuration.engine.recording = recording
            configuration.longest = .seconds(7)
            let talk = try SimulatedConversation(configuration)
            let answer = SyntheticSpeech.samples(frames: 4 * 48_000, seed: 4, voice: .low, levelDecibels: -26)
            talk.run(for: .seconds(7)) { event in
                if case .turnEnded(let turn) = event { talk.answer(turn.id, answer) }
            }
            talk.closeRecording()
            return talk
        }
        let folder = RecordingFolder()
        let recorded = try talk(folder.configuration())
        let plain = try talk(nil)
        #expect(recorded.recording.speaker == plain.recording.speaker)
        #expect(recorded.recording.speaker.contains { $0 != 0 })
        let report = try Replay(folder: folder.path).run()
        #expect(report.isExact, "\(report)")
        #expect(report.stages.count >= 5)
    }

    @Test(
        "Given a disk that stands still, or is full, when a call goes on, then it sounds as without a recorder, and the recording says what is missing",
        .enabled(if: isOptimised))
    func standstill() throws {
        let seconds = 14.0
        func speaker(_ recording: RecordingConfiguration?, writes: Bool = true) throws -> (SimulatedCall, [Float]) {
            var configuration = Self.configuration(seconds: seconds)
            configuration.recorded = nil
            configuration.recordings = [recording, nil]
            configuration.writesRecordings = writes
            let call = try SimulatedCall(configuration)
            call.run(for: .seconds(seconds))
            return (call, call.recording(.a).speaker)
        }
        let (_, plain) = try speaker(nil)
        // A disk that stands still: the ring fills, which takes some ten seconds of sound
        var still = RecordingConfiguration(folder: "", includesSound: true)
        let memory = MemoryStore()
        still.store = memory
        let (stalled, heard) = try speaker(still, writes: false)
        #expect(heard == plain)
        let lacking = try #require(stalled.closeRecording(.a))
        #expect(lacking.lostRuns > 0 && lacking.end == nil, "\(lacking)")
        let report = try Self.report(memory.bytes)
        #expect(report.gap != nil && report.lostRuns == lacking.lostRuns && !report.isExact, "\(report)")
        // A full disk
        var full = RecordingConfiguration(folder: "", includesSound: true)
        full.store = MemoryStore(limit: 300_000)
        let (call, sound) = try speaker(full)
        #expect(sound == plain)
        let status = try #require(call.closeRecording(.a))
        #expect(status.end == .unwritable(errno: ENOSPC) && status.bytes <= 300_000, "\(status)")
    }

    @Test("a recording never grows beyond its limit, and what it holds can be run again")
    func limit() throws {
        let folder = RecordingFolder()
        var configuration = Self.configuration(seconds: 3)
        var recording = folder.configuration()
        recording.maximumBytes = 600_000
        configuration.recordings = [recording, nil]
        let call = try SimulatedCall(configuration)
        call.run(for: .seconds(3))
        let status = try #require(call.closeRecording(.a))
        #expect(status.end == .full && status.bytes <= 600_000)
        #expect(try folder.bytes.count == status.bytes)
        let report = try Replay(folder: folder.path).run()
        #expect(report.isCutShort && report.isExact, "\(report)")
        #expect(report.duration > .milliseconds(500))
    }

    @Test("without sound there are no samples in it, what can be told is told, and nothing is said to be the same")
    func withoutSound() throws {
        let folder = RecordingFolder()
        var configuration = Self.configuration(seconds: 3)
        configuration.recordings = [folder.configuration(sound: false), nil]
        let call = try SimulatedCall(configuration)
        call.run(for: .seconds(3))
        call.closeRecording(.a)
        // Sound alone would be 1.1 MB
        #expect(try folder.bytes.count < 200_000)
        let replay = try Replay(folder: folder.path)
        var commands = 0
        replay.onDecision = { if $0.kind == "command" { commands += 1 } }
        let report = replay.run()
        #expect(!replay.settings.includesSound && commands > 0 && report.runs > 300)
        #expect(!report.isExact && report.stages.isEmpty && report.fault == .withoutSound, "\(report)")
    }

    // MARK: Files that are not what was written

    /// A second of a call.
    private static func smallRecording() throws -> [UInt8] {
        let store = MemoryStore()
        var configuration = configuration(seconds: 1.5)
        var recording = RecordingConfiguration(folder: "", includesSound: true)
        recording.store = store
        configuration.recordings = [recording, nil]
        configuration.engine.backend = .bypass
        let call = try SimulatedCall(configuration)
        _ = try call.openFarEnd(FarEndConfiguration(), .a).offer(
            [Float](repeating: 0.1, count: 4_800).span, utterance: UtteranceID(rawValue: 1))
        call.run(for: .seconds(1.5))
        call.closeRecording(.a)
        return store.bytes
    }

    private static func report(_ bytes: [UInt8]) throws -> Replay.Report {
        let folder = RecordingFolder()
        try folder.write(bytes)
        return try Replay(folder: folder.path).run()
    }

    @Test("one flipped bit of the microphone's sound is found, in the stages behind it and not before it happened")
    func difference() throws {
        var bytes = try Self.smallRecording()
        #expect(try Self.report(bytes).isExact)
        // The newest of the sound, as if the recorder had been wrong by one bit, early enough for its packet to be among
        // those that are compared at one second
        var found = false
        Self.eachPiece(of: &bytes) { kind, range, bytes in
            guard kind == .captureSound, !found, range.lowerBound > bytes.count / 4 else { return }
            bytes[range.lowerBound + 1] ^= 1
            found = true
        }
        #expect(found)
        let report = try Self.report(bytes)
        #expect(report.fault == nil && !report.isExact)
        for stage in report.stages {
            let isBehind = [Stage.point(.captured), .point(.processed), .point(.sent), .packets].contains(stage.stage)
            #expect((stage.firstDifference != nil) == isBehind, "\(stage)")
        }
    }

    @Test("numbers beyond all that a recorder writes are damage")
    func impossibleNumbers() throws {
        var writer = RecordCoder()
        for number in [Int64.min, 0, 0, Int64.min] {
            var number = number
            try writer.code(&number)
        }
        var reader = RecordCoder(reading: writer.bytes)
        for _ in 0..<2 {
            #expect(throws: RecordingFault.self) {
                var duration = Duration.zero
                try reader.code(&duration)
            }
        }
        // A playout ring that never holds a period would be filled without end
        var settings = RecordedSettings(
            EngineConfiguration(), includesSound: true, devicePeriod: 480, keepsDeadlines: true)
        settings.devicePeriod = Int32(settings.longestPlaybackPeriod)
        _ = try settings.configuration()
        settings.devicePeriod += 1
        #expect(throws: RecordingFault.self) { try settings.configuration() }
    }

    @Test("a policy of interruptions comes back as it was", arguments: [nil, Duration.milliseconds(70)])
    func policy(alertAfter: Duration?) throws {
        var stages = BargeInStages()
        stages.alertAfter = alertAfter
        stages.confirmAfter = .milliseconds(900)
        var (policy, read) = (BargeInPolicy.staged(stages), BargeInPolicy.off)
        var writer = RecordCoder()
        try policy.code(with: &writer)
        var reader = RecordCoder(reading: writer.bytes)
        try read.code(with: &reader)
        #expect(read == policy && reader.isAtEnd)
    }

    @Test("a file that is cut off, of something else, or of a later version is refused with what, where and what to do")
    func refusals() throws {
        let bytes = try Self.smallRecording()
        #expect(throws: RecordingFault.unreadable(path: "/nowhere/recording.dvr", errno: ENOENT)) {
            try Replay(folder: "/nowhere")
        }
        #expect { try Self.report(Array("RIFF and so on, as WAV files begin".utf8)) } throws: {
            if case RecordingFault.notARecording = $0 { true } else { false }
        }
        var other = bytes
        other[8] = UInt8(RecordingFormat.version) + 1
        #expect { try Self.report(other) } throws: {
            if case RecordingFault.newer(_, let version) = $0 { version == RecordingFormat.version + 1 } else { false }
        }
        // Version 2 had other settings and fewer commands
        other[8] = 2
        #expect { try Self.report(other) } throws: {
            if case RecordingFault.older(_, version: 2) = $0 {
                "\($0)".contains("use the version that made it")
            } else {
                false
            }
        }
        let cut = try Self.report(Array(bytes.dropLast(100)))
        guard case .truncated(_, let offset) = cut.fault else {
            Issue.record("\(cut)")
            return
        }
        #expect(offset == bytes.count - 100 && cut.runs > 50 && !cut.isExact)
        // What lies before the cut was run, and was the same
        #expect(cut.stages.allSatisfy { $0.firstDifference == nil })
        var damaged = bytes
        damaged[bytes.count / 2] ^= 4
        let report = try Self.report(damaged)
        guard case .damaged(let path, _, let what) = report.fault else {
            Issue.record("\(report)")
            return
        }
        #expect(path.hasSuffix(RecordingFormat.fileName) && what.contains("checksum"))
    }

    @Test(
        "whatever is in a file whose checksums are right, a replay ends with an error or a difference, and never traps",
        arguments: cases(1...4))
    func hostile(seed: UInt64) throws {
        let bytes = try Self.smallRecording()
        let whole = try Self.report(bytes)
        var numbers = SeededNumbers(seed: seed)
        var noticed = 0
        for _ in 0..<(isOptimised ? 12 : 3) {
            var changed = bytes
            let victims = Int.random(in: 1...3, using: &numbers)
            for _ in 0..<victims {
                let wanted = Int.random(in: 0..<bytes.count, using: &numbers)
                let random = UInt64.random(in: .min ... .max, using: &numbers)
                var isDone = false
                Self.eachPiece(of: &changed) { kind, range, bytes in
                    // Numbers rather than samples: they are what can be impossible
                    guard !isDone, range.upperBound > wanted, !range.isEmpty, kind != .captureSound,
                        kind != .referenceSound
                    else { return }
                    let place = range.lowerBound + Int(random % UInt64(range.count)) / 8 * 8
                    let value: UInt64 = [random, 0, .max, 1 << 40, random >> 33, random & 0xFF][Int(random >> 60) % 6]
                    for index in 0..<min(8, range.upperBound - place) {
                        bytes[place + index] = UInt8(truncatingIfNeeded: value >> UInt64(8 * index))
                    }
                    isDone = true
                }
            }
            let report = try Self.report(changed)
            #expect(report.runs <= whole.runs, "seed \(seed)")
            if !report.isExact { noticed += 1 }
        }
        #expect(noticed > 0, "seed \(seed)")
    }

    /// Gives every piece to `body`, which may change it, and then makes the checksums right.
    private static func eachPiece(of bytes: inout [UInt8], _ body: (RecordedPiece, Range<Int>, inout [UInt8]) -> Void) {
        var place = 16 + Int(bytes.span.word(at: 12)) + 8
        while place < bytes.count {
            let length = Int(bytes.span.word(at: place + 4))
            let first = place + RecordingFormat.chunkHeaderBytes
            var piece = first
            while piece < first + length {
                let size = Int(bytes.span.word(at: piece + 4))
                if let kind = RecordedPiece(rawValue: bytes.span.word(at: piece)) {
                    body(kind, piece + 8..<piece + 8 + size, &bytes)
                }
                piece += 8 + (size + 7) / 8 * 8
            }
            let number = UInt64(bitPattern: bytes.span.number(at: place + 8))
            let chunk = Array(bytes[first..<first + length])
            let sum = RecordingFormat.checksum(chunk.span, number: number)
            for index in 0..<8 { bytes[place + 16 + index] = UInt8(truncatingIfNeeded: sum >> UInt64(8 * index)) }
            place = first + length
        }
    }
}
