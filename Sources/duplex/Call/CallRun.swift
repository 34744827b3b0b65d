import Glibc
import VoiceEngine

/// A call from joining to leaving.
struct CallRun {
    private let options: Call
    private let endpoint: RoomEndpoint
    private let configuration: EngineConfiguration
    /// In place of a sound card.
    private let files: DeferredFileDevice?
    private let tally = CallTally()
    private let log: CallLog

    /// What the last words need to get from the microphone to the others: the way through processing, codec and a bad
    /// network.
    private static let lastWords = Duration.milliseconds(500)

    init(_ options: Call) throws {
        self.options = options
        log = CallLog(json: options.json)
        endpoint = try options.access.endpoint(options.server)
        files = options.usesFiles ? try Self.files(options) : nil
        configuration = try options.engineConfiguration(files: files)
    }

    /// Looks at the files before anybody is called.
    private static func files(_ options: Call) throws -> DeferredFileDevice {
        if let input = options.input { try InputFile.checkHoldsSound(input) }
        if let output = options.output {
            try OutputFile.checkIsWAV(output, option: "--output")
            try OutputFile.check(output, option: "--output")
            try OutputFile.check(output, option: "--output", isNoneOf: [options.input].compactMap(\.self))
        }
        return DeferredFileDevice(FileDeviceConfiguration(input: options.input, output: options.output))
    }

    func run() async throws {
        let interruption = Interruption()
        let engine = VoiceEngine(configuration)
        let events = engine.events
        let ending = await withTaskGroup(of: RunEnding.self) { group in
            group.addTask { await converse(engine, events) }
            group.addTask {
                await interruption.wait()
                return .interrupted
            }
            let ending = await group.next() ?? .interrupted
            group.cancelAll()
            await tally.look(at: engine)
            // Also ends a join that is under way.
            await engine.stop()
            return ending
        }
        Console.endProgress()
        if let complaint = RecordOptions.complaint(await engine.recording) { log.warn(complaint) }
        let summary = tally.summary(ending: ending.text)
        if let summary { log.end(summary) }
        if case .failed(let failure) = ending { throw failure }
        if summary == nil { throw Failure(.unavailable, "\(ending.text) before the room was joined") }
        if let failure = files?.failure { throw Failure(failure) }
    }

    // MARK: The call

    /// From opening the device to whatever ends the call first.
    private func converse(_ engine: VoiceEngine, _ events: EventStream) async -> RunEnding {
        let present: [Participant]
        do throws(EngineError) {
            log.start(try await engine.start())
            Console.progress("joining \(endpoint)")
            present = try await engine.join(endpoint, configuration: options.roomConfiguration)
        } catch {
            return .failed(Failure(error))
        }
        tally.begin()
        if options.wait == nil || !present.isEmpty {
            if let failure = beginFiles() { return .failed(failure) }
        } else {
            Console.progress("waiting for somebody else")
        }
        let ending = await firstEnding(engine, events, present)
        if case .endOfInput = ending { try? await Task.sleep(for: Self.lastWords) }
        return ending
    }

    private func beginFiles() -> Failure? {
        do throws(DeviceError) { try files?.begin() } catch { return Failure(error) }
        return nil
    }

    private func firstEnding(_ engine: VoiceEngine, _ events: EventStream, _ present: [Participant]) async -> RunEnding
    {
        await withTaskGroup(of: RunEnding?.self) { group in
            group.addTask { await watch(events, present) }
            group.addTask { await observe(engine) }
            if let keyboard = Keyboard() {
                if !options.json { Console.progress("keys: \(CallKey.legend)") }
                group.addTask {
                    var keys = CallKeys(engine, log, hasCards: files == nil)
                    defer { keyboard.restore() }
                    return await keys.obey(keyboard.keys)
                }
            }
            if let seconds = options.seconds { group.addTask { await timeIsUp(after: seconds) } }
            if let wait = options.wait { group.addTask { await nobodyCame(within: wait) } }
            for await case let ending? in group {
                group.cancelAll()
                return ending
            }
            return .interrupted
        }
    }

    /// Shows the events until one of them ends the call.
    private func watch(_ events: EventStream, _ present: [Participant]) async -> RunEnding? {
        for await event in events {
            log.show(event)
            if Console.isUnread { return .unread }
            switch event {
            case .joined: present.forEach { log.show($0) }
            case .participantJoined:
                if let failure = beginFiles() { return .failed(failure) }
            case .device(.endOfInput):
                if options.seconds == nil { return .endOfInput }
            // Any other policy brings a device back.
            case .deviceLost(let loss) where loss.policy == .fixed: return .failed(Failure(loss.reason))
            case .left(let end): return .failed(Failure(end))
            default: break
            }
        }
        return nil
    }

    /// Counts, and shows the time, until it is cancelled.
    private func observe(_ engine: VoiceEngine) async -> RunEnding? {
        var hasWarned = false
        var isToldSilent = false
        while !Task.isCancelled {
            await tally.look(at: engine)
            await show(engine)
            if tally.isSilenced, !hasWarned {
                hasWarned = true
                log.warn("nothing that you say is sent; the token may not allow speaking")
            }
            if files == nil, let isSilent = tally.isMicrophoneSilent, isSilent != isToldSilent {
                isToldSilent = isSilent
                // One with a gate is as silent as one that is off, until somebody speaks.
                if isSilent {
                    log.warn(
                        ofSilence: """
                            the microphone has given digital silence so far: if you spoke, nobody heard it; \
                            \(HeardLevel.silenceRemedy)
                            """)
                } else {
                    log.note("the microphone is heard now")
                }
            }
            try? await Task.sleep(for: CallTally.period)
        }
        return nil
    }

    /// Meters for people, statistics each second for programs.
    private func show(_ engine: VoiceEngine) async {
        let isMuted = await engine.snapshot.isMuted
        if options.json, let line = tally.takeStatistics(isMuted: isMuted) { log.show(line) }
        if files?.isWaiting != true { tally.showProgress(isMuted: isMuted) { log.name($0) } }
    }

    private func timeIsUp(after seconds: Double) async -> RunEnding? {
        do { try await Task.sleep(for: .seconds(seconds)) } catch { return nil }
        return .timeIsUp
    }

    private func nobodyCame(within seconds: Double) async -> RunEnding? {
        do { try await Task.sleep(for: .seconds(seconds)) } catch { return nil }
        guard files?.isWaiting == true else { return nil }
        return .failed(
            Failure(
                .unavailable,
                "nobody else came into the room within \(seconds) s; have the other call come into the same room of this server, or wait longer by --wait"
            ))
    }
}
