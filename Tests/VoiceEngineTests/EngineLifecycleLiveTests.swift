import Glibc
import Testing
import VoiceEngine
import VoiceRooms
import VoiceSimulation

extension EngineLiveTests {
    @Suite("starts and stops", .serialized)
    struct Lifecycle {
        private func engineThreads() -> Int {
            threadNames().count { ["voice-media", "voice-events", "voice-control"].contains($0) }
        }

        @Test("start, stop, and start again: the sound runs each time")
        func startStopStart() async throws {
            let engine = try modestEngine()
            for _ in 1...3 {
                let formats = try await engine.start()
                #expect(formats.capture?.active.periodFrames == 480)
                #expect(formats.playback?.active.sampleRate == 48_000)
                #expect(try await eventually { try await engine.statistics().device.capture.frames > 9_600 })
                #expect(try await eventually { try await engine.statistics().media.ticks >= 10 })
                await engine.stop()
            }
        }

        @Test("what is asked at the wrong time is refused by name")
        func wrongTime() async throws {
            let engine = try modestEngine()
            let room = try LoopbackRoom()
            defer { room.close() }
            let endpoint = try room.endpoint("anna")
            // Given an engine that does not run
            await expect(.engineNotStarted) { try await engine.statistics() }
            await expect(.engineNotStarted) { try await engine.join(endpoint) }
            await expect(.engineNotStarted) { try await engine.setOutputVolume(0.5) }
            await expect(.engineNotStarted) { try await engine.setProcessing(.bypass) }
            await expect(.engineNotStarted) { try await engine.selectDevices(playback: "default") }
            await expect(.roomNotJoined) { try await engine.send([1]) }
            await expect(.roomNotJoined) { try await engine.setVolume(1, for: ParticipantID(rawValue: 1)) }
            // Leaving and stopping are no errors
            await engine.leave()
            await engine.stop()
            // When it runs
            try await engine.start()
            await expect(.engineAlreadyStarted) { try await engine.start() }
            await expect(.roomNotJoined) { try await engine.send([1]) }
            // And when it is in a room
            try await engine.join(endpoint)
            await expect(.roomAlreadyJoined) { try await engine.join(endpoint) }
            await expect(.roomUnknownParticipant) { try await engine.setVolume(1, for: ParticipantID(rawValue: 99)) }
            await expect(.roomMessageTooLong) { try await engine.send([UInt8](repeating: 0, count: 1_025)) }
            await engine.stop()
            await expect(.engineNotStarted) { try await engine.join(endpoint) }
            await engine.stop()
        }

        @Test(
            "a setting out of its range is refused with what it is and may be",
            arguments: [
                Mistake("maximumStreams is 0") { $0.maximumStreams = 0 },
                Mistake("maximumStreams is 17") { $0.maximumStreams = 17 },
                Mistake("mediaPriority is -1") { $0.mediaPriority = -1 },
                Mistake("mediaPriority is 100") { $0.mediaPriority = 100 },
                Mistake("networkPriority is -1") { $0.networkPriority = -1 },
                Mistake("networkPriority is 100") { $0.networkPriority = 100 },
                Mistake("playoutMargin is ") { $0.playoutMargin.minimum = .milliseconds(-1) },
                Mistake("playoutMargin is ") { $0.playoutMargin.maximum = .milliseconds(41) },
                Mistake("playoutMargin is ") { $0.playoutMargin.initial = .milliseconds(30) },
                Mistake("playoutMargin.memory is ") { $0.playoutMargin.memory = .zero },
                Mistake("targetLevel") { $0.processing.gain.targetLevel = 1 },
                Mistake("maximumGain") { $0.processing.gain.maximumGain = 41 },
                Mistake("499 bits per second") { $0.encoder.bitratePerSecond = 499 },
                Mistake("complexity") { $0.encoder.complexity = 11 },
                Mistake("101 per cent") { $0.encoder.expectedLossPercent = 101 },
            ])
        func invalidConfiguration(mistake: Mistake) async throws {
            var configuration = modestConfiguration(device: try talkingCard())
            mistake.change(&configuration)
            let engine = VoiceEngine(configuration)
            let error = await #expect(throws: EngineError.self) { try await engine.start() }
            guard case .invalidConfiguration(let text) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(text.contains(mistake.complaint), "\(text)")
        }

        @Test("a setting that is out of its range while it runs is refused, and changes nothing")
        func invalidLiveSetting() async throws {
            let engine = try modestEngine()
            try await engine.start()
            for volume in [-0.1, 1.1, .nan, .infinity] as [Float] {
                await expect(.configurationInvalid) { try await engine.setOutputVolume(volume) }
            }
            for volume in [-0.1, 4.1, .nan] as [Float] {
                await expect(.configurationInvalid) {
                    try await engine.setVolume(volume, for: ParticipantID(rawValue: 1))
                }
            }
            var processing = ProcessingSettings.bypass
            processing.gain.targetLevel = 5
            await expect(.configurationInvalid) { try await engine.setProcessing(processing) }
            try await engine.setOutputVolume(0.5)
            await engine.stop()
        }

        @Test("a device that cannot be had is told; the engine starts when it can be had")
        func deviceInUse() async throws {
            // Given two engines for one device
            let device = try talkingCard()
            let (first, second) = (
                VoiceEngine(modestConfiguration(device: device)), VoiceEngine(modestConfiguration(device: device))
            )
            try await first.start()
            let error = await #expect(throws: EngineError.self) { try await second.start() }
            guard case .device(.alreadyRunning) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            // When the first lets it go, then the second may have it
            await first.stop()
            try await second.start()
            #expect(try await eventually { try await second.statistics().device.capture.frames > 0 })
            await second.stop()
        }

        @Test(
            "a device whose period is longer than the engine's rings is refused, and let go",
            arguments: [8_193, 16_000])
        func longPeriod(frames: Int) async throws {
            let device = try talkingCard(periodFrames: frames)
            let engine = VoiceEngine(modestConfiguration(device: device))
            let error = await #expect(throws: EngineError.self) { try await engine.start() }
            guard case .device(.invalidConfiguration(let message)) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(message.contains("\(frames) frames; use "))
            #expect(device.nextWake == nil)
        }

        @Test("the longest period is played")
        func longestPeriod() async throws {
            let engine = VoiceEngine(modestConfiguration(device: try talkingCard(periodFrames: 3_376)))
            try await engine.start()
            #expect(try await eventually { try await engine.statistics().device.playback.frames > 10_000 })
            // On a machine that is busy, at least now and then so many periods in a row
            var last = try await engine.statistics().device.playback
            #expect(
                try await eventually {
                    let now = try await engine.statistics().device.playback
                    if now.underrunFrames != last.underrunFrames { last = now }
                    return now.frames > last.frames + 10_000
                })
            await engine.stop()
        }

        @Test("an engine that is let go without a stop leaves no thread behind, and its events end")
        func letGo() async throws {
            #expect(try await eventually { engineThreads() == 0 })
            let events: EventStream
            do {
                let engine = try modestEngine()
                events = engine.events
                try await engine.start()
                #expect(try await eventually { engineThreads() == 3 })
                // Optimised code lets go of what is not used again.
                _ = try await engine.statistics()
            }
            #expect(try await eventually { engineThreads() == 0 })
            #expect(await events.wait { _ in false } == false)
        }

        @Test("an engine that is let go in a room is gone from it too")
        func letGoInARoom() async throws {
            // Given a room that takes a silent participant for gone after 0.6 s
            let room = try LoopbackRoom(
                directory: RoomDirectoryConfiguration(keepaliveInterval: .milliseconds(200), breakWindow: .zero))
            defer { room.close() }
            do {
                let engine = try modestEngine()
                try await engine.start()
                try await engine.join(room.endpoint("anna"))
                #expect(try await eventually { room.server.statistics.participants == 1 })
            }
            // Then the network thread is gone as well, so that the room hears nothing more
            #expect(try await eventually { engineThreads() == 0 })
            #expect(try await eventually { room.server.statistics.participants == 0 })
        }
    }
}

/// The engine on its threads. One test after the other: they count threads.
@Suite("The engine", .serialized, .timeLimit(.minutes(3)))
struct EngineLiveTests {}

/// The names of this process's threads.
func threadNames() -> [String] {
    guard let folder = unsafe opendir("/proc/self/task") else { return [] }
    defer { unsafe closedir(folder) }
    var names: [String] = []
    while let entry = unsafe readdir(folder) {
        let thread = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
            unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
        }
        guard let file = unsafe fopen("/proc/self/task/\(thread)/comm", "r") else { continue }
        defer { unsafe fclose(file) }
        var name = ""
        while case let byte = unsafe fgetc(file), byte != EOF, byte != 10 {
            name.append(Character(UnicodeScalar(UInt8(truncatingIfNeeded: byte))))
        }
        names.append(name)
    }
    return names
}

/// A configuration that cannot be, and what is complained of.
struct Mistake: Sendable, CustomTestStringConvertible {
    let complaint: String
    let change: @Sendable (inout EngineConfiguration) -> Void
    var testDescription: String { complaint }

    init(_ complaint: String, _ change: @escaping @Sendable (inout EngineConfiguration) -> Void) {
        (self.complaint, self.change) = (complaint, change)
    }
}

/// Expects an `EngineError` of that code.
func expect<Result>(
    _ code: ErrorCode, sourceLocation: SourceLocation = #_sourceLocation, _ call: () async throws -> Result
) async {
    do {
        _ = try await call()
        Issue.record("\(code) was expected, nothing was thrown", sourceLocation: sourceLocation)
    } catch {
        #expect((error as? EngineError)?.code == code, "\(error)", sourceLocation: sourceLocation)
    }
}
