internal import VoiceRealtime
internal import VoiceRooms
internal import VoiceText
internal import VoiceTransport
internal import VoiceTurns

/// The engine's stay in one room: carries the room's events to the media thread and the listeners, and requests to the
/// room. The engine's own: only on its control thread.
final class RoomMembership {
    private let core: EngineCore
    private let broadcast: EventBroadcast
    private let client: RoomClient
    private var media: RoomMedia
    private var end: RoomClientEnd?
    private var isIn = false
    private var texts = RoomTexts()
    /// What the network thread has of it for the next join.
    private var entrance: RoomEntrance
    private var receipts = ReceiptDesk()
    /// Whoever waits for the receipts of an interruption.
    private var waiting: [UInt64: CheckedContinuation<[InterruptionReceipt], Never>] = [:]
    /// Whoever waits for the join to be decided.
    private var entry: CheckedContinuation<RoomClientEnd?, Never>?

    /// Starts the network thread, which begins to join.
    init(
        core: EngineCore, broadcast: EventBroadcast, requests: StreamRequests,
        _ endpoint: RoomEndpoint, _ configuration: RoomClientConfiguration
    ) throws(EngineError) {
        guard configuration.room.utf8.count <= RoomProtocol.textLimit else { throw .requestRefused(.roomNameTooLong) }
        var (configuration, requests) = (configuration, requests)
        requests.presence.role = configuration.role
        requests.presence.interruptibleBy = configuration.interruptibleBy
        requests.presence.isPublishedByJoin = configuration.publishing
        entrance = requests.presence.entrance
        configuration.publishing = entrance.publishing != nil
        do throws(RoomClientEnd) {
            client = try RoomClient(joining: endpoint, configuration: configuration, link: core.link)
        } catch {
            throw .room(error)
        }
        self.core = core
        self.broadcast = broadcast
        media = RoomMedia(randomStart: .random(in: .min ... .max), requests: requests)
        carryOut([.command(.keepForRoom)])
    }

    // MARK: Coming in, and going

    /// The room's events, each of which goes to ``handle(_:)``. They do not hold the client, whose thread must be able
    /// to end while somebody waits.
    var events: AsyncStream<RoomClientEvent> { client.events }

    /// Waits until the join is decided; nil where the engine is in. Takes at most the look-up's and the join's
    /// time-outs.
    nonisolated(nonsending) func decision() async -> RoomClientEnd? {
        if isIn || isOver { return end }
        return await withCheckedContinuation { entry = $0 }
    }

    /// Asks to leave; the last event comes within the room's closing time.
    func askToLeave() {
        do { try client.leave() } catch { client.stop() }
    }

    /// Ends the network thread, and waits until it has let go of the rings, so that another may take them.
    func close() { client.stop() }

    /// Whether the room has ended the stay, or the client could not go on.
    var isOver: Bool { end != nil }

    // MARK: What is known

    /// Everybody else in the room.
    var others: [Participant] { media.participants.values.sorted { $0.id < $1.id } }

    /// Who publishes each synchronization source that is played here.
    var talkers: [UInt32: ParticipantID] { media.talkers }

    var statistics: RoomClientStatistics { client.statistics }

    /// Adds to a snapshot what is known of the room.
    func describe(_ snapshot: inout EngineSnapshot, _ conditions: LiveConditions) {
        snapshot.connection = connection
        snapshot.room = media.stay?.room
        snapshot.own = media.stay.map { RoomMember($0.own, media.ownStreams, LiveConditions()) }
        snapshot.streams = media.streamStates
        snapshot.others = others.map { RoomMember($0, media.streams(of: $0.id), conditions) }
    }

    private var connection: RoomConnection {
        if let end { return .ended(end) }
        guard isIn else { return .connecting }
        return media.isAway ? .reconnecting : .connected
    }

    // MARK: Requests

    func send(_ bytes: [UInt8], to participant: ParticipantID?) throws(EngineError) {
        try ask(.send(destination: participant, bytes: bytes))
    }

    func setMuted(_ muted: Bool) throws(EngineError) {
        try perform(media.setMuted(muted))
    }

    /// What is captured from now on is this utterance, as the media thread was told; nil: none.
    func name(_ utterance: UtteranceID?) { media.name(utterance) }

    func interrupt(_ participant: ParticipantID?) throws(EngineError) {
        guard !isOver else { throw .notJoined }
        if let participant { try requireMember(participant) }
        try perform(media.interrupt(participant))
    }

    /// Carries out what follows from a call of the app's. Throws what cannot be; nothing more is asked for then.
    private func perform(_ actions: [RoomMedia.Action]) throws(EngineError) {
        var failure: EngineError?
        var unasked: [RoomMessage] = []
        carryOut(actions) { request in
            if failure == nil {
                do throws(EngineError) { return try ask(request) } catch { failure = error }
            }
            unasked.append(request)
        } whenLost: { error in
            failure = failure ?? error
        }
        for request in unasked {
            if let kind = request.request { carryOut(media.requestFailed(kind, subject: request.subject)) }
        }
        if let failure { throw failure }
    }

    /// Waits until it is known how far what was interrupted was heard; the wait begins before the interruption, so
    /// that its answer cannot come first. ``giveUp(_:)`` ends it.
    nonisolated(nonsending) func receipts(_ number: UInt64) async -> [InterruptionReceipt] {
        await withCheckedContinuation {
            waiting[number] = $0
            deliverReceipts()
        }
    }

    /// Begins to wait for the receipts of an interruption.
    func openReceipts(of participant: ParticipantID?) -> UInt64 { receipts.open(participant) }

    /// Waits no longer: what is known goes to whoever waits.
    func giveUp(_ number: UInt64) {
        let known = receipts.close(number)
        waiting.removeValue(forKey: number)?.resume(returning: known)
    }

    /// Who says this could not be interrupted: what is known of it is all.
    private func endReceipts(of stream: StreamID) {
        guard let talker = media.publisher(of: stream) else { return }
        receipts.refuse(talker)
        deliverReceipts()
    }

    private func deliverReceipts() {
        while !waiting.isEmpty, let (number, known) = receipts.takeSettled() {
            waiting.removeValue(forKey: number)?.resume(returning: known)
        }
    }

    /// Tells the room what the media thread has to tell it.
    func take(_ event: MediaEvent) {
        // Of who has left nothing is kept.
        if case .utteranceHeard(let news) = event,
            media.participants[ParticipantID(rawValue: news.participant)] != nil
        {
            receipts.take(HeardUtterance(news), of: ParticipantID(rawValue: news.participant))
            deliverReceipts()
        }
        if !isOver { carryOut(media.take(event)) }
    }

    func setVolume(_ volume: Float, for participant: ParticipantID) throws(EngineError) {
        try requireMember(participant)
        try send(commandsOf: media.setVolume(volume, for: participant))
    }

    func setBargeIn(_ policy: BargeInPolicy, for participant: ParticipantID) throws(EngineError) {
        try requireMember(participant)
        try send(commandsOf: media.watch(participant, policy))
    }

    private func requireMember(_ participant: ParticipantID) throws(EngineError) {
        guard !isOver else { throw .notJoined }
        guard media.participants[participant] != nil else { throw .unknownParticipant(participant) }
    }

    private func send(commandsOf actions: [RoomMedia.Action]) throws(EngineError) {
        for case .command(let command) in actions { try core.send(command) }
    }

    private func ask(_ request: RoomMessage) throws(EngineError) {
        guard !isOver else { throw .notJoined }
        do throws(RoomSessionError) { try client.ask(request, in: stay) } catch { throw EngineError(error) }
    }

    /// What requests are meant for. The network thread may be in the next one already.
    private var stay: RejoinSecret? { media.grant?.secret }

    // MARK: Streams, roles and attributes

    /// Plays the stream of this name, or does not.
    func play(_ isWanted: Bool, _ name: String) { carryOut(media.play(isWanted, name) ?? []) }

    func play(_ isWanted: Bool, _ participant: ParticipantID) throws(EngineError) {
        try requireMember(participant)
        carryOut(media.play(isWanted, participant))
    }

    func setVolume(_ volume: Float, ofStream name: String) throws(EngineError) {
        try send(commandsOf: media.setVolume(volume, ofStream: name))
    }

    /// Publishes what a far end of the app's says.
    func publish(line: UInt64, as name: String) { carryOut(media.publish(line: line, as: name)) }

    func unpublish(line: UInt64) { carryOut(media.unpublish(line: line)) }

    func setMuted(_ isMuted: Bool, for participant: ParticipantID) throws(EngineError) {
        try requireMember(participant)
        try send(commandsOf: media.setMuted(isMuted, for: participant))
    }

    func setMuted(_ isMuted: Bool, ofStream name: String) throws(EngineError) {
        try send(commandsOf: media.setMuted(isMuted, ofStream: name))
    }

    func publish(as name: String?) { carryOut(media.publish(as: name)) }

    func setRole(_ role: RoomRole) throws(EngineError) {
        guard !isOver else { throw .notJoined }
        try perform(media.setRole(role))
    }

    func setAttributes(_ attributes: ParticipantAttributes) throws(EngineError) {
        try perform(media.setAttributes(attributes))
    }

    // MARK: What waits

    /// Does what is due; returns in how long it is to be called again, nil where that is after the next event.
    func carryOn() -> Duration? {
        // In a break all would wait, each overtaken by the next.
        guard isIn, !isOver, !media.isAway else { return nil }
        let now = MonotonicTime.now().sinceEpoch
        carryOut(media.askAgain(now: now))
        carryTexts(now: now)
        return [texts.nextTimeout, media.nextAsking(now: now)].compactMap { $0 }.min().map { max($0 - now, .zero) }
    }

    // MARK: Texts

    func changeText(
        _ stream: String, _ change: TextChange, isFinal: Bool, extras: String
    ) throws(EngineError) {
        guard !isOver else { throw .notJoined }
        do throws(TextError) {
            try texts.change(stream, change, isFinal: isFinal, extras: extras)
        } catch { throw .text(error) }
    }

    func abandonText(_ stream: String) { texts.abandon(stream) }

    /// Tells and sends what is due of texts.
    private func carryTexts(now: Duration) {
        while let event = texts.pollEvent(now: now) { broadcast.post(event) }
        while let letter = texts.pollLetter(now: now) {
            do throws(RoomSessionError) {
                let message = RoomMessage.send(destination: letter.destination, kind: letter.kind, bytes: letter.bytes)
                try client.ask(message, in: stay)
            } catch {
                texts.startAgain(now: now)
            }
        }
    }

    private func post(_ event: EngineEvent) {
        switch event {
        case .heard(let heard, let listener): receipts.take(heard, by: listener)
        case .participantLeft(let participant, _): receipts.leave(participant)
        default: break
        }
        deliverReceipts()
        texts.follow(event, now: MonotonicTime.now().sinceEpoch)
        broadcast.post(event)
    }

    // MARK: Events

    /// What follows from an event of the room; ``carryOn()`` is to be called after it, and after each call of the app's.
    func handle(_ event: RoomClientEvent) {
        switch event {
        case .room(.message(let sender, _, let kind, let bytes)) where kind != .application:
            texts.handle(bytes, kind, from: sender, now: MonotonicTime.now().sinceEpoch)
        case .room(let event):
            if case .joined = event { isIn = true }
            if case .requestRefused(.send, _, let refusal) = event {
                texts.refused(refusal, now: MonotonicTime.now().sinceEpoch)
            }
            if case .requestRefused(.interrupt, let stream, let refusal) = event, refusal != .receiverBusy {
                endReceipts(of: StreamID(rawValue: stream))
            }
            carryOut(media.handle(event))
            texts.enter(stay, now: MonotonicTime.now().sinceEpoch)
            if case .joined = event { decide(nil) }
        case .requestFailed(let request, let subject, let error): failed(request, subject, error)
        case .eventsDropped(let count, let grant, let roster):
            broadcast.post(.degraded(.eventsLost(count)))
            carryOut(media.catchUp(grant, roster))
            texts.enter(stay, now: MonotonicTime.now().sinceEpoch)
        case .ended(let reason):
            carryOut(media.leave())
            end = reason
            receipts.endAll()
            deliverReceipts()
            if isIn { broadcast.post(.left(reason)) }
            decide(reason)
        }
    }

    private func carryOut(_ actions: [RoomMedia.Action]) {
        var unasked: [(RoomMessage, RoomSessionError)] = []
        carryOut(actions) { request in
            do throws(RoomSessionError) { try client.ask(request, in: stay) } catch { unasked.append((request, error)) }
        } whenLost: { _ in
            broadcast.post(.degraded(.commandLost))
        }
        // Their answers, as it were, which come after all that was asked for.
        for (request, error) in unasked { failed(request.request, request.subject, error) }
    }

    /// Carries `actions` out in order: requests by `ask`; `whenLost` is told of a command that the media thread has not
    /// taken.
    private func carryOut(
        _ actions: [RoomMedia.Action], by ask: (RoomMessage) -> Void, whenLost: (EngineError) -> Void
    ) {
        for action in actions {
            switch action {
            case .ask(let request): ask(request)
            case .command(let command):
                do throws(EngineError) { try core.send(command) } catch { whenLost(error) }
            case .post(let event): post(event)
            }
        }
        guard media.entrance != entrance else { return }
        entrance = media.entrance
        client.rejoin(as: entrance)
    }

    /// A request could not be asked for.
    private func failed(_ request: RoomRequest?, _ subject: UInt32, _ error: RoomSessionError) {
        if let request { carryOut(media.requestFailed(request, subject: subject)) }
        if request == .interrupt { endReceipts(of: StreamID(rawValue: subject)) }
        // Of what is told of hearing, more follows.
        if let request, request != .tellHeard { post(.requestFailed(request, error)) }
    }

    private func decide(_ failure: RoomClientEnd?) {
        entry?.resume(returning: failure)
        entry = nil
    }
}

extension RoomMember {
    fileprivate init(_ participant: Participant, _ streams: [Stream], _ conditions: LiveConditions) {
        self.participant = participant
        self.streams = streams
        isReachable = conditions.isReachable(participant.id)
        isStalled = conditions.isStalled(participant.id)
        linkQuality = conditions.linkQuality(participant.id)
    }
}
