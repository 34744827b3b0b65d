import VoiceEngine
import VoicePartner

/// A talk from making the partner ready to the last word.
struct TalkRun {
    private let options: Talk
    private let partner: any Partner
    private let files: DeferredFileDevice?
    private let requests = PartnerRequests()
    private let log: TalkLog

    /// Nobody has had the turn for so long behind the input's end: it is answered.
    private static let silence = Duration.milliseconds(1_500)
    private static let period = Duration.milliseconds(100)

    /// - Parameter partner: in place of the one that the options name.
    init(_ options: Talk, partner: (any Partner)? = nil) throws {
        self.options = options
        if let input = options.input { try InputFile.checkHoldsSound(input) }
        if let output = options.output {
            try OutputFile.checkIsWAV(output, option: "--output")
            try OutputFile.check(output, option: "--output")
            try OutputFile.check(output, option: "--output", isNoneOf: [options.input].compactMap(\.self))
        }
        self.partner = try partner ?? options.partner.make(requests: requests)
        log = TalkLog(json: options.json)
        files =
            options.usesFiles
            ? DeferredFileDevice(FileDeviceConfiguration(input: options.input, output: options.output)) : nil
    }

    func run() async throws {
        let interruption = Interruption()
        let engine = VoiceEngine(try options.engineConfiguration(files: files))
        let ending = await withTaskGroup(of: RunEnding.self) { group in
            group.addTask { await talk(engine) }
            group.addTask {
                await interruption.wait()
                return .interrupted
            }
            let ending = await group.next() ?? .interrupted
            group.cancelAll()
            await engine.stop()
            return ending
        }
        // Once more, for what was started meanwhile.
        await engine.stop()
        Console.endProgress()
        if let complaint = RecordOptions.complaint(await engine.recording) { Console.complain("warning: \(complaint)") }
        log.end(ending)
        if case .failed(let failure) = ending { throw failure }
        if let failure = files?.failure { throw Failure(failure) }
    }

    func talk(_ engine: VoiceEngine) async -> RunEnding {
        let conversation: Conversation
        do throws(PartnerError) {
            Console.progress("making the partner ready")
            try await partner.prepare()
        } catch {
            return .failed(Failure(error))
        }
        // A partner takes seconds to be made ready, and does not look whether it is still wanted.
        guard !Task.isCancelled else { return .interrupted }
        let events = engine.events
        do throws(EngineError) {
            _ = try await engine.start()
            guard !Task.isCancelled else { return .interrupted }
            conversation = try await engine.converse(
                options.mode.talkMode,
                configuration: FarEndConfiguration(nearEndRate: options.partner.nearEndRate))
        } catch {
            return .failed(Failure(error))
        }
        return await firstEnding(conversation, events)
    }

    private func firstEnding(_ conversation: Conversation, _ events: EventStream) async -> RunEnding {
        let (failures, continuation) = AsyncStream.makeStream(of: Failure.self)
        return await withTaskGroup(of: RunEnding?.self) { group in
            let (ready, readiness) = AsyncStream.makeStream(of: Void.self)
            group.addTask {
                await converse(conversation, whenReady: { readiness.finish() }, fail: { continuation.yield($0) })
            }
            group.addTask {
                for await failure in failures { return .failed(failure) }
                return nil
            }
            group.addTask { await watch(events, conversation) }
            if options.requests {
                group.addTask {
                    // Before, nobody takes them.
                    for await _ in ready {}
                    guard !Task.isCancelled else { return nil }
                    await TalkRequests(requests: requests, conversation: conversation, log: log).obey(InputLines())
                    return nil
                }
            } else if let keyboard = Keyboard() {
                group.addTask {
                    defer { keyboard.restore() }
                    return await TalkKeys(conversation, options.mode, log).obey(keyboard.keys)
                }
            }
            if let seconds = options.seconds {
                group.addTask {
                    do { try await Task.sleep(for: .seconds(seconds)) } catch { return nil }
                    return .timeIsUp
                }
            }
            for await case let ending? in group {
                group.cancelAll()
                return ending
            }
            return .interrupted
        }
    }

    /// - Parameters:
    ///   - whenReady: is called when the partner takes requests.
    ///   - fail: is told what outside the talk ends it.
    private func converse(
        _ conversation: Conversation, whenReady: @Sendable @escaping () -> Void,
        fail: @Sendable @escaping (Failure) -> Void
    ) async -> RunEnding? {
        do throws(PartnerError) {
            try await partner.converse(in: conversation) { event in
                log.show(event)
                guard event == .ready else { return }
                whenReady()
                // Nothing of the input is spoken before somebody hears it.
                do throws(DeviceError) { try files?.begin() } catch { fail(Failure(error)) }
            }
            return nil
        } catch {
            return .failed(Failure(error))
        }
    }

    private func watch(_ events: EventStream, _ conversation: Conversation) async -> RunEnding? {
        for await event in events {
            if Console.isUnread { return .unread }
            switch event {
            case .device(.endOfInput): return await lastAnswer(conversation)
            case .deviceLost(let loss) where loss.policy == .fixed: return .failed(Failure(loss.reason))
            default: log.show(event)
            }
        }
        return nil
    }

    /// Waits until nobody has had the turn for a while.
    private func lastAnswer(_ conversation: Conversation) async -> RunEnding? {
        var idle = Duration.zero
        while idle < Self.silence {
            do { try await Task.sleep(for: Self.period) } catch { return nil }
            idle = conversation.state == .idle ? idle + Self.period : .zero
        }
        return .endOfInput
    }
}
