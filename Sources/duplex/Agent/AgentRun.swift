import RealtimePartner
import VoiceEngine
import VoicePartner

/// A partner in a room, from making it ready to leaving.
///
///     room ══ engine of the room ══ CrossedDevices ══ engine of the conversation ── partner
///
/// The conversation's near talker is the room: what is heard of all who speak there. What the partner says is the
/// microphone of the room's engine.
struct AgentRun {
    private let options: Agent
    private let endpoint: RoomEndpoint
    private let partner: any Partner
    private let requests = PartnerRequests()
    private let log: TalkLog

    init(_ options: Agent) throws {
        self.options = options
        log = TalkLog(json: options.json)
        endpoint = try options.access.endpoint(options.server)
        partner = try options.partner.make(requests: requests)
    }

    func run() async throws {
        let interruption = Interruption()
        let devices: CrossedDevices
        do throws(DeviceError) { devices = try CrossedDevices() } catch { throw Failure(error) }
        // Nothing of either comes back to it: there is no echo.
        let room = VoiceEngine(try configuration(devices.room, "room"))
        let near = VoiceEngine(try configuration(devices.conversation, "conversation"))
        let ending = await withTaskGroup(of: RunEnding.self) { group in
            group.addTask { await attend(room, near) }
            group.addTask {
                await interruption.wait()
                return .interrupted
            }
            let ending = await group.next() ?? .interrupted
            group.cancelAll()
            await near.stop()
            await room.stop()
            return ending
        }
        // Once more, for what was started meanwhile.
        await near.stop()
        await room.stop()
        withExtendedLifetime(devices) {}
        Console.endProgress()
        for engine in [room, near] {
            if let complaint = RecordOptions.complaint(await engine.recording) {
                Console.complain("warning: \(complaint)")
            }
        }
        log.end(ending)
        if case .failed(let failure) = ending { throw failure }
    }

    private func configuration(_ device: any AudioDevice, _ folder: String) throws -> EngineConfiguration {
        var configuration = EngineConfiguration.headset
        configuration.device = .custom(device)
        try options.recording.apply(to: &configuration, folder: folder)
        return configuration
    }

    private func attend(_ room: VoiceEngine, _ near: VoiceEngine) async -> RunEnding {
        let conversation: Conversation
        let events = room.events
        do throws(PartnerError) {
            Console.progress("making the partner ready")
            try await partner.prepare()
        } catch {
            return .failed(Failure(error))
        }
        guard !Task.isCancelled else { return .interrupted }
        do throws(EngineError) {
            _ = try await near.start()
            conversation = try await near.converse(
                configuration: FarEndConfiguration(nearEndRate: options.partner.nearEndRate))
            _ = try await room.start()
            guard !Task.isCancelled else { return .interrupted }
            try await room.setAttribute(AgentAttribute.kind.rawValue, to: AgentAttribute.agentKind)
            try await room.setAttribute(AgentAttribute.state.rawValue, to: AgentState.listening.rawValue)
            Console.progress("joining \(endpoint)")
            let present = try await room.join(
                endpoint,
                configuration: RoomClientConfiguration(
                    allowPlaintext: options.allowPlaintext, interruptibleBy: .anyone))
            for participant in present {
                log.show(participant)
                await mind(participant.isAgent, participant.id, room)
            }
        } catch {
            return .failed(Failure(error))
        }
        return await firstEnding(room, conversation, events)
    }

    private func firstEnding(
        _ room: VoiceEngine, _ conversation: Conversation, _ events: EventStream
    ) async -> RunEnding {
        let (turns, continuation) = AsyncStream.makeStream(of: TurnEvent.self, bufferingPolicy: .bufferingNewest(256))
        return await withTaskGroup(of: RunEnding?.self) { group in
            group.addTask {
                do throws(PartnerError) {
                    try await partner.converse(in: conversation) { event in
                        log.show(event)
                        if case .turn(let turn) = event { continuation.yield(turn) }
                    }
                    return nil
                } catch {
                    return .failed(Failure(error))
                }
            }
            group.addTask {
                for await turn in turns { await tell(room, turn) }
                return nil
            }
            group.addTask { await watch(events, conversation, room) }
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

    /// Has the room know which answer is said, and that one is over: what is under way of it is dropped at every
    /// listener.
    private func tell(_ room: VoiceEngine, _ event: TurnEvent) async {
        // Also one that the agent takes by itself: behind an interruption nothing else is heard of it.
        if let turn = event.agentTurn { try? await room.beginUtterance(UtteranceID(rawValue: turn.rawValue)) }
        switch event {
        case .stateChanged(let state, _):
            // A room that does not take it has other news first.
            try? await room.setAttribute(AgentAttribute.state.rawValue, to: AgentState(state).rawValue)
        case .answerStarted(let turn, let latency):
            let report = AnswerReport(utterance: UtteranceID(rawValue: turn.rawValue), latency: latency)
            try? await room.send(report.bytes)
        case .answerCancelled(_, .interrupted), .answerCancelled(_, .cancelled): try? await room.interrupt()
        default: break
        }
    }

    /// Does not hear another agent, unless it is to.
    private func mind(_ isAgent: Bool, _ participant: ParticipantID, _ room: VoiceEngine) async {
        guard !options.hearAgents else { return }
        // Whoever has gone meanwhile is not heard either.
        if isAgent { try? await room.stopPlaying(participant) } else { try? await room.play(participant) }
    }

    /// Agents ask nothing of agents, as they do not answer them.
    private func mayAsk(_ participant: ParticipantID, _ room: VoiceEngine) async -> Bool {
        guard !options.hearAgents else { return true }
        return await !room.snapshot.others.contains { $0.participant.id == participant && $0.participant.isAgent }
    }

    /// Does what an app in the room asks; what cannot be done now is not done.
    private func obey(_ message: AgentMessage, _ conversation: Conversation) async {
        switch message {
        case .say(let text): await requests.say(text)
        case .ask(let text): await requests.ask(text)
        case .update(let parameters): await requests.update(parameters)
        case .cancel: try? conversation.cancel()
        }
    }

    private func watch(
        _ events: EventStream, _ conversation: Conversation, _ room: VoiceEngine
    ) async -> RunEnding? {
        var own: ParticipantID?
        for await event in events {
            if Console.isUnread { return .unread }
            log.showRoom(event)
            switch event {
            case .joined(_, let id): own = id
            case .participantJoined(let participant): await mind(participant.isAgent, participant.id, room)
            case .attributesChanged(let id, let attributes) where id != own:
                await mind(attributes.isOfAgent, id, room)
            // By the room's message; who speaks is heard as an interruption.
            case .interrupted(let talker, let other, _) where talker == own && other != own: try? conversation.cancel()
            case .message(let sender, let bytes):
                guard let message = AgentMessage(bytes), await mayAsk(sender, room) else { continue }
                await obey(message, conversation)
            case .left(let end): return .failed(Failure(end))
            default: break
            }
        }
        return nil
    }
}
