internal import VoicePeers

// What participants ask for while they are in a room, and how they leave it.

extension RoomDirectory {
    /// Takes a message of a participant, in order and once.
    mutating func handle(
        _ message: RoomMessage, from id: ParticipantID, at peer: PeerID, now: Duration
    ) throws(RoomProtocolError) {
        if message == .leave { return leave(id, now: now) }
        guard let request = message.request else {
            throw .unexpectedMessage(message.type.rawValue)
        }
        connections[peer]?.outbox.countHandled(message)
        let before = deliveries + forwarding.edits
        defer {
            let cost = 1 + deliveries + forwarding.edits - before
            participants[id]?.requests.charge(cost, RoomLimits.requests, now: now)
        }
        do throws(RoomRefusal) {
            try perform(message, from: id, now: now)
        } catch {
            let refused = RoomMessage.requestRefused(request, subject: message.subject, error)
            // A client that floods us with bad requests and reads no answers loses the answers.
            _ = sendDurable(refused, to: id)
        }
    }

    private mutating func perform(
        _ message: RoomMessage, from id: ParticipantID, now: Duration
    ) throws(RoomRefusal) {
        switch message {
        case .publish(let assignment, let policy, let name): try publish(assignment, policy, name: name, from: id)
        case .unpublish(let stream): try unpublish(stream, from: id)
        case .subscribe(let stream): try setSubscribed(true, to: stream, for: id)
        case .unsubscribe(let stream): try setSubscribed(false, to: stream, for: id)
        case .setMuted(let stream, let muted):
            guard let index = participants[id]?.publishedIndex(of: stream) else { throw .unknownStream }
            setMute(.byPublisher, muted, of: id, at: index)
        case .send(let destination, let kind, let bytes): try relay(bytes, kind, from: id, to: destination)
        case .interrupt(let stream): try interrupt(stream, from: id, now: now)
        case .tellGeneration(let start): try beginGeneration(start, from: id)
        case .tellHeard(let report): try tellTalker(report, from: id, now: now)
        case .setAttributes(let attributes): try setAttributes(attributes, of: id, now: now)
        case .setRole(let role):
            try chargeSelfDescription(of: id, now: now)
            try setRole(role, of: id)
        case .renew(let token): try askForVerdict(on: token, of: id, now: now)
        default: throw .malformed
        }
    }

    // MARK: Streams

    /// Publishes a stream of a participant's own. Changes nothing where it is published already.
    mutating func publish(
        _ assignment: StreamAssignment, _ policy: InterruptionPolicy, name: String = "", from id: ParticipantID
    ) throws(RoomRefusal) {
        guard var publisher = participants[id] else { return }
        guard publisher.capabilities.contains(.publish) else { throw .noPublishRight }
        guard publisher.role == .talker else { throw .listenerCannotPublish }
        guard let index = publisher.streams.firstIndex(where: { $0.assignment == assignment }) else {
            throw .unknownStream
        }
        guard !publisher.streams[index].isPublished else { return }
        if !name.isEmpty {
            guard rooms[publisher.room]?.streamNames.insert(name).inserted == true else { throw .nameTaken }
        }
        publisher.streams[index].isPublished = true
        publisher.streams[index].interruptibleBy = policy
        publisher.streams[index].name = name
        participants[id]?.streams[index] = publisher.streams[index]
        forwarding.setPublished(true, assignment.stream)
        for member in members(of: publisher.room) where member != id {
            guard participants[member]?.capabilities.contains([.subscribe, .autoSubscribe]) == true else { continue }
            subscribe(member, to: assignment.stream, of: id)
        }
        broadcast(.published(id, publisher.streams[index].published), room: publisher.room)
    }

    private mutating func unpublish(_ stream: StreamID, from id: ParticipantID) throws(RoomRefusal) {
        guard let publisher = participants[id], let index = publisher.publishedIndex(of: stream) else {
            throw .unknownStream
        }
        participants[id]?.streams[index].isPublished = false
        participants[id]?.streams[index].name = ""
        rooms[publisher.room]?.streamNames.remove(publisher.streams[index].name)
        // What the publisher muted is forgotten; what the server muted stays muted.
        participants[id]?.streams[index].mute.remove(.byPublisher)
        forwarding.setPublished(false, stream)
        for member in members(of: publisher.room) { unsubscribe(member, from: stream, of: id) }
        broadcast(.unpublished(id, stream), room: publisher.room)
    }

    private mutating func setSubscribed(
        _ wanted: Bool, to stream: StreamID, for id: ParticipantID
    ) throws(RoomRefusal) {
        guard let subscriber = participants[id] else { return }
        guard subscriber.capabilities.contains(.subscribe) else { throw .noSubscribeRight }
        guard let publisher = publisher(of: stream, room: subscriber.room), publisher != id else {
            throw .unknownStream
        }
        if wanted {
            let isNew = !subscriber.subscriptions.contains(stream)
            subscribe(id, to: stream, of: publisher)
            if isNew { tellGeneration(of: stream, of: publisher, to: id) }
        } else {
            unsubscribe(id, from: stream, of: publisher)
        }
        _ = sendDurable(.subscriptionChanged(stream, wanted), to: id)
    }

    /// Tells whoever has just subscribed which generation plays: of interruptions since the roster, or since it heard the
    /// stream last, it was told nothing.
    private mutating func tellGeneration(of stream: StreamID, of publisher: ParticipantID, to id: ParticipantID) {
        guard let index = participants[publisher]?.publishedIndex(of: stream),
            let generation = participants[publisher]?.streams[index].generation, generation != 0
        else { return }
        _ = sendDurable(.interrupted(by: publisher, stream, generation: generation), to: id)
    }

    // MARK: What participants tell of themselves

    private mutating func chargeSelfDescription(of id: ParticipantID, now: Duration) throws(RoomRefusal) {
        guard participants[id]?.selfDescriptions.take(RoomLimits.selfDescriptions, now: now) == true else {
            throw .tooOften
        }
    }

    private mutating func setAttributes(
        _ attributes: ParticipantAttributes, of id: ParticipantID, now: Duration
    ) throws(RoomRefusal) {
        guard let participant = participants[id], participant.attributes != attributes else { return }
        try chargeSelfDescription(of: id, now: now)
        participants[id]?.attributes = attributes
        broadcast(.attributesChanged(id, attributes), room: participant.room)
    }

    /// Has a participant talk or only listen, which withdraws its streams.
    package mutating func setRole(_ role: RoomRole, of id: ParticipantID) throws(RoomRefusal) {
        guard let participant = participants[id] else { throw .unknownParticipant }
        guard participant.role != role else { return }
        guard role == .listener || participant.capabilities.contains(.publish) else { throw .noPublishRight }
        participants[id]?.role = role
        if role == .listener {
            for stream in participant.published { try unpublish(stream.assignment.stream, from: id) }
        }
        broadcast(.roleChanged(id, role), room: participant.room)
    }

    /// Mutes or unmutes a stream from the server's side; its packets are dropped meanwhile. False when nobody
    /// publishes it.
    @discardableResult
    package mutating func setServerMute(_ muted: Bool, stream: StreamID) -> Bool {
        guard let owner = streamOwners[stream], let index = participants[owner]?.publishedIndex(of: stream) else {
            return false
        }
        setMute(.byServer, muted, of: owner, at: index)
        return true
    }

    private mutating func setMute(_ by: MuteState, _ muted: Bool, of id: ParticipantID, at index: Int) {
        guard let publisher = participants[id] else { return }
        var mute = publisher.streams[index].mute
        if muted { mute.formUnion(by) } else { mute.subtract(by) }
        guard mute != publisher.streams[index].mute else { return }
        participants[id]?.streams[index].mute = mute
        let stream = publisher.streams[index].assignment.stream
        forwarding.setMuted(mute.contains(.byServer), stream)
        broadcast(.muteChanged(stream, mute), room: publisher.room)
    }

    /// Who publishes a stream in a room.
    func publisher(of stream: StreamID, room: String) -> ParticipantID? {
        guard let owner = streamOwners[stream], let participant = participants[owner], participant.room == room,
            participant.publishedIndex(of: stream) != nil
        else { return nil }
        return owner
    }

    // MARK: Messages

    private mutating func relay(
        _ bytes: [UInt8], _ kind: MessageKind, from id: ParticipantID, to destination: ParticipantID?
    ) throws(RoomRefusal) {
        guard let sender = participants[id] else { return }
        let message = RoomMessage.message(sender: id, destination: destination, kind: kind, bytes: bytes)
        guard let destination else {
            let others = members(of: sender.room).filter { $0 != id }
            return try deliver(message, to: others)
        }
        guard participants[destination]?.room == sender.room else { throw .unknownParticipant }
        try deliver(message, to: [destination])
    }

    /// Begins the stream's next generation. The room numbers them, so that whoever comes late needs no history to
    /// interrupt.
    private mutating func interrupt(_ stream: StreamID, from id: ParticipantID, now: Duration) throws(RoomRefusal) {
        guard let sender = participants[id] else { return }
        guard let publisher = publisher(of: stream, room: sender.room),
            publisher == id || sender.subscriptions.contains(stream),
            let index = participants[publisher]?.publishedIndex(of: stream),
            let record = participants[publisher]?.streams[index]
        else { throw .unknownStream }
        guard publisher == id || record.interruptibleBy == .anyone else { throw .noInterruptionRight }
        guard participants[id]?.interruptions.take(RoomLimits.interruptions, now: now) == true else { throw .tooOften }
        let generation = record.generation &+ 1
        participants[publisher]?.streams[index].generation = generation
        let concerned = members(of: sender.room).filter { member in
            member == publisher || participants[member]?.subscriptions.contains(stream) == true
        }
        try deliver(.interrupted(by: id, stream, generation: generation), to: concerned)
    }

    /// Tells those who hear a stream where the generation begins that an interruption has ordered. Of each only once:
    /// what is told later of one that another interruption has overtaken, or twice, is news to nobody.
    private mutating func beginGeneration(_ start: GenerationStart, from id: ParticipantID) throws(RoomRefusal) {
        guard let publisher = participants[id], let index = publisher.publishedIndex(of: start.stream) else {
            throw .unknownStream
        }
        let record = publisher.streams[index]
        guard !start.generation.isNewer(than: record.generation) else { throw .malformed }
        guard start.generation == record.generation, start.generation.isNewer(than: record.begunGeneration) else {
            return
        }
        participants[id]?.streams[index].begunGeneration = start.generation
        let listeners = members(of: publisher.room).filter { member in
            participants[member]?.subscriptions.contains(start.stream) == true
        }
        try deliver(.generationStarted(id, start), to: listeners)
    }

    /// Tells a talker how far one who hears it has heard an utterance. What waits for the talker of the same listener
    /// and stream is replaced.
    private mutating func tellTalker(
        _ report: HeardReport, from id: ParticipantID, now: Duration
    ) throws(RoomRefusal) {
        guard let listener = participants[id], listener.subscriptions.contains(report.stream),
            let publisher = publisher(of: report.stream, room: listener.room)
        else { throw .unknownStream }
        guard participants[id]?.reportsOfHearing.take(RoomLimits.reportsOfHearing, now: now) == true else {
            throw .tooOften
        }
        try deliver(.heard(by: id, report), to: [publisher])
    }

    /// Delivers to whoever has room; the refusal says that someone had not.
    private mutating func deliver(_ message: RoomMessage, to receivers: [ParticipantID]) throws(RoomRefusal) {
        var someoneIsBusy = false
        for receiver in receivers where !sendDurable(message, to: receiver) { someoneIsBusy = true }
        if someoneIsBusy { throw .receiverBusy }
    }
}

extension UInt32 {
    /// Whether a generation is newer than another (RFC 1982 order).
    fileprivate func isNewer(than other: UInt32) -> Bool { Int32(bitPattern: self &- other) > 0 }
}
