package import VoiceRooms
package import VoiceTurns

/// What the room's events mean for the media and for the listeners, without clock, socket or random source.
///
/// The driver feeds it every event of its `RoomSession`, and carries out what it answers.
package struct RoomMedia {
    /// What is to be done.
    package enum Action: Sendable {
        /// Ask the room for this.
        case ask(RoomMessage)
        /// Tell the media thread.
        case command(MediaCommand)
        /// Tell the listeners.
        case post(EngineEvent)
    }

    /// Everybody else in the room.
    package internal(set) var participants: [ParticipantID: Participant] = [:]
    /// The room's name, and who this engine is there; nil before it has come in.
    package internal(set) var stay: (room: String, own: Participant)?
    /// The stream that this engine publishes; nil where the token does not allow it.
    package private(set) var ownStream: StreamAssignment?
    private var own: ParticipantID? { stay?.own.id }
    /// What the app publishes beside the microphone, by the far end whose sound it is.
    var outgoing: [UInt64: OutgoingPlace] = [:]
    /// Whether the room has confirmed our stream, so that its packets are forwarded.
    private var isPublished = false
    private var isMuted: Bool
    /// Whether the room takes out what is repeated for whoever does not take it.
    private var mayRepeat = false
    /// Whether the session tries to come back. What it tells of the others meanwhile is left to the roster that it
    /// comes back with: a new server gives the old numbers to others, and only with the roster it says which one is
    /// ours.
    package private(set) var isAway = false
    /// What is played here of each participant, and what each publishes.
    private var sources: [ParticipantID: [StreamAssignment]] = [:]
    var published: [StreamID: (publisher: ParticipantID, stream: PublishedStream)] = [:]
    var choice: StreamChoice
    /// The grant in force.
    private(set) var grant: JoinGrant?
    /// Whether the microphone is to be published, and by which name.
    var publishes = true
    var streamName = ""
    private var muted: Set<ParticipantID> = []
    /// Who, and which streams, are not to be heard here.
    private var mutedHere: Set<ParticipantID> = []
    private var mutedStreams: Set<String> = []
    /// Of whom something else than 1 was asked for.
    private var volumes: [ParticipantID: Float] = [:]
    private var streamVolumes: [String: Float] = [:]
    /// Of our stream, as the room has numbered it last.
    private var ownGeneration: UInt32 = 0
    /// Of every stream that is played here.
    private var generations: [StreamID: StreamGeneration] = [:]
    /// The streams on which nothing is to be expected, of those.
    private var silent: Set<StreamID> = []
    /// Who is interrupted by speaking into what it says.
    private var watched: ParticipantID?
    private let start: UInt64
    /// Who may interrupt our stream.
    let interruptibleBy: InterruptionPolicy

    /// Media whose RTP stream begins at numbers taken from `randomStart` (RFC 3550, section 5.1).
    ///
    /// - Parameter requests: what the app has asked for before there was a room.
    package init(
        randomStart: UInt64, isMuted: Bool = false, interruptibleBy: InterruptionPolicy = .publisher,
        requests: StreamRequests = StreamRequests()
    ) {
        start = randomStart
        self.interruptibleBy = interruptibleBy
        self.isMuted = isMuted
        choice = StreamChoice(names: requests.played)
        streamVolumes = requests.volumes
        mutedStreams = requests.muted
        outgoing = requests.outgoing.mapValues { OutgoingPlace(name: $0) }
        publishes = requests.publishes
        streamName = requests.name
    }

    /// The streams of a participant that are played here, and whether each is muted.
    package func streams(of participant: ParticipantID) -> [RoomMember.Stream] {
        sources[participant, default: []].map { assignment in
            RoomMember.Stream(
                id: assignment.stream, synchronizationSource: assignment.synchronizationSource,
                isMuted: silent.contains(assignment.stream), name: published[assignment.stream]?.stream.name ?? "")
        }
    }

    /// What this engine publishes.
    package var ownStreams: [RoomMember.Stream] {
        guard isPublished, let ownStream else { return outgoingStreams }
        return [
            RoomMember.Stream(
                id: ownStream.stream, synchronizationSource: ownStream.synchronizationSource, isMuted: isMuted,
                name: streamName)
        ] + outgoingStreams
    }

    /// Who publishes each synchronization source that is played here.
    package var talkers: [UInt32: ParticipantID] {
        var talkers: [UInt32: ParticipantID] = [:]
        for (participant, streams) in sources {
            for stream in streams { talkers[stream.synchronizationSource] = participant }
        }
        return talkers
    }

    /// Mutes or unmutes this engine's stream, also where it is yet to be published.
    package mutating func setMuted(_ muted: Bool) -> [Action] {
        isMuted = muted
        return ownStream.map { [.ask(.setMuted($0.stream, muted))] } ?? []
    }

    /// Scales what is heard of a participant, also of what it is yet to publish.
    package mutating func setVolume(_ volume: Float, for participant: ParticipantID) -> [Action] {
        volumes[participant] = volume == 1 ? nil : volume
        return sources[participant, default: []].map { scale($0, of: participant) }
    }

    /// Scales what is heard of the stream of this name, also where it is yet to be published.
    package mutating func setVolume(_ volume: Float, ofStream name: String) -> [Action] {
        streamVolumes[name] = volume == 1 ? nil : volume
        return sources.flatMap { publisher, streams in
            streams.filter { published[$0.stream]?.stream.name == name }.map { scale($0, of: publisher) }
        }
    }

    /// Has a participant not be heard here, or heard again by its volume.
    package mutating func setMuted(_ isMuted: Bool, for participant: ParticipantID) -> [Action] {
        if isMuted { mutedHere.insert(participant) } else { mutedHere.remove(participant) }
        return sources[participant, default: []].map { scale($0, of: participant) }
    }

    /// The same of the stream of this name, also where it is yet to be published.
    package mutating func setMuted(_ isMuted: Bool, ofStream name: String) -> [Action] {
        if isMuted { mutedStreams.insert(name) } else { mutedStreams.remove(name) }
        return sources.flatMap { publisher, streams in
            streams.filter { published[$0.stream]?.stream.name == name }.map { scale($0, of: publisher) }
        }
    }

    private func gain(_ stream: StreamAssignment, of participant: ParticipantID) -> Float {
        let name = published[stream.stream]?.stream.name ?? ""
        guard !mutedHere.contains(participant), !mutedStreams.contains(name) else { return 0 }
        return (volumes[participant] ?? 1) * (streamVolumes[name] ?? 1)
    }

    private func scale(_ stream: StreamAssignment, of participant: ParticipantID) -> Action {
        .command(
            .setVolume(
                gain: gain(stream, of: participant), synchronizationSource: stream.synchronizationSource))
    }

    /// Interrupts what a participant says, or this engine where it is nil: what waits of it here is dropped at once,
    /// and everywhere else when the room has told it.
    package mutating func interrupt(_ participant: ParticipantID?) -> [Action] {
        let streams = participant.map { sources[$0, default: []].map(\.stream) } ?? ownStream.map { [$0.stream] } ?? []
        return streams.flatMap { stream in
            change(stream) { $0.interrupt() } + [.ask(.interrupt(stream))]
        }
    }

    /// An interruption of ours was refused, or could not be asked for: what is said goes on to be heard.
    package mutating func interruptionRefused(_ stream: StreamID) -> [Action] { change(stream) { $0.withdraw() } }

    /// Has what a participant says give way to the near talker by `policy`, and nobody else any more;
    /// ``BargeInPolicy/off`` for nobody.
    package mutating func watch(_ participant: ParticipantID, _ policy: BargeInPolicy) -> [Action] {
        if policy == .off, watched != participant { return [] }
        watched = policy == .off ? nil : participant
        let order = TalkerWatchOrder(participant: watched?.rawValue ?? 0, policy: policy)
        return [.command(.watchTalker(order))]
    }

    /// What the room is to be told of an event of the media thread.
    package mutating func take(_ event: MediaEvent) -> [Action] {
        switch event {
        case .generationStarted(let generation, let timestamp): generationStarted(generation, timestamp: timestamp)
        case .utteranceHeard(let news): heard(news)
        case .talkerSpokenInto(let participant, let change) where change.stage == .confirmed:
            interrupt(ParticipantID(rawValue: participant))
        default: []
        }
    }

    private func heard(_ news: HeardNews) -> [Action] {
        let streams = sources[ParticipantID(rawValue: news.participant), default: []]
        return streams.filter { $0.synchronizationSource == news.synchronizationSource }.map {
            .ask(.tellHeard(HeardReport(HeardUtterance(news), on: $0.stream)))
        }
    }

    /// The first packet of a generation of our stream was sent.
    package func generationStarted(_ generation: UInt32, timestamp: UInt32) -> [Action] {
        guard let ownStream, isPublished else { return [] }
        let start = GenerationStart(stream: ownStream.stream, generation: generation, timestamp: timestamp)
        return [.ask(.tellGeneration(start))]
    }

    /// What follows from `event`.
    package mutating func handle(_ event: RoomSessionEvent) -> [Action] {
        switch event {
        case .joined(let grant, let roster): return enter(grant, roster)
        case .reconnecting:
            isAway = true
            return [.post(.connectionLost)] + choose { $0.lose(&$1) }
        case .reconnected(let grant, let roster): return comeBack(grant, roster)
        case .ended: return leave()
        default: return isAway ? [] : handleInRoom(event)
        }
    }

    /// Ends all media of the room.
    package mutating func leave() -> [Action] {
        var departures = participants.keys.sorted().flatMap { depart($0) }
        departures += choose { $0.leave(&$1) }
        departures += withdrawOutgoing()
        published = [:]
        grant = nil
        ownStream = nil
        isPublished = false
        isAway = false
        generations = [:]
        silent = []
        return departures + [.command(.stopPublishing)]
    }

    private mutating func handleInRoom(_ event: RoomSessionEvent) -> [Action] {
        switch event {
        case .participantJoined(let entry):
            return arrive(entry) + [.post(.participantJoined(Participant(entry)))] + noteMute(of: entry)
        case .participantLeft(let participant, let reason):
            return depart(participant) + [.post(.participantLeft(participant, reason))]
        case .published(let participant, let stream):
            let begun = participant == own ? beginOwn(stream) : appear(stream, of: participant)
            return participant == own || stream.mute.isEmpty ? begun : begun + noteMute(true, of: participant)
        case .unpublished(let participant, let stream):
            return participant == own ? endOwn(stream) : drop(stream)
        case .muteChanged(let participant, let stream, let mute):
            guard participant != own else { return [] }
            published[stream]?.stream.mute = mute
            return expectSilence(!mute.isEmpty, on: stream) + noteMute(!mute.isEmpty, of: participant)
        case .message(let sender, _, .application, let bytes): return [.post(.message(from: sender, bytes))]
        // For RoomTexts.
        case .message: return []
        case .interrupted(let participant, let stream, let generation):
            return interrupted(stream, generation, by: participant)
        case .generationStarted(let participant, let start):
            guard participants[participant] != nil else { return [] }
            return [.post(.generationStarted(participant, generation: start.generation))]
        case .heard(let listener, let report):
            guard participants[listener] != nil, report.stream == ownStream?.stream else { return [] }
            return [.post(.heard(HeardUtterance(report), by: listener))]
        case .attributesChanged(let participant, let attributes):
            return describe(participant) { $0.attributes = attributes }
        case .roleChanged(let participant, let role): return change(participant, to: role)
        case .subscriptionChanged(let stream, let isSubscribed):
            return choose { $0.confirm(stream, isSubscribed: isSubscribed, &$1) }
        case .requestRefused(.subscribe, let subject, let refusal):
            return subscriptionRefused(StreamID(rawValue: subject), refusal)
                + [.post(.requestRefused(.subscribe, refusal))]
        // Its talker has gone meanwhile.
        case .requestRefused(.tellHeard, _, _): return []
        case .requestRefused(.interrupt, let subject, let refusal) where refusal != .receiverBusy:
            return interruptionRefused(StreamID(rawValue: subject)) + [.post(.requestRefused(.interrupt, refusal))]
        case .requestRefused(let request, _, let refusal): return [.post(.requestRefused(request, refusal))]
        case .joined, .reconnecting, .tokenExpiring, .tokenRefused, .reconnected, .ended: return []
        }
    }

    // MARK: Coming in, and coming back

    private mutating func enter(_ grant: JoinGrant, _ roster: RoomRoster) -> [Action] {
        begin(grant, roster)
        let others = roster.entries.filter { $0.participant != own }
        let choices = enterChoice(grant, isSameStay: false)
        let arrivals = others.flatMap { arrive($0) }
        let joined = [Action.post(.joined(room: grant.room, as: grant.participant))]
        return choices + arrivals + publishing(grant) + publishingOutgoing(grant) + joined
            + others.flatMap { noteMute(of: $0) }
    }

    private mutating func enterChoice(_ grant: JoinGrant, isSameStay: Bool) -> [Action] {
        choose { $0.enter(takesAll: grant.capabilities.contains(.autoSubscribe), isSameStay: isSameStay, &$1) }
    }

    private mutating func begin(_ grant: JoinGrant, _ roster: RoomRoster) {
        self.grant = grant
        let own = roster[grant.participant].map { Participant($0) }
        stay = (grant.room, own ?? Participant(RosterEntry(participant: grant.participant, identity: "", name: "")))
    }

    private mutating func comeBack(_ grant: JoinGrant, _ roster: RoomRoster) -> [Action] {
        isAway = false
        return reconcile(
            grant, roster, isSameStay: grant.resumed, mayAnswer: grant.resumed, telling: [.post(.reconnected)])
    }

    /// What follows from who is there now, where events were lost.
    package mutating func catchUp(_ grant: JoinGrant, _ roster: RoomRoster) -> [Action] {
        let isSameStay = grant.participant == own && (ownStream == nil || grant.streams.first == ownStream)
        let isBack = isAway
        isAway = false
        return reconcile(
            grant, roster, isSameStay: isSameStay, mayAnswer: false, telling: isBack ? [.post(.reconnected)] : [])
    }

    /// - Parameter mayAnswer: whether answers to interruptions of ours may still come: not in another stay, and not
    ///   where they may be among events that were lost.
    private mutating func reconcile(
        _ grant: JoinGrant, _ roster: RoomRoster, isSameStay: Bool, mayAnswer: Bool, telling news: [Action]
    ) -> [Action] {
        let before = stay?.own
        begin(grant, roster)
        let others = roster.entries.filter { $0.participant != own }
        let described = roster.entries.flatMap { changes(of: $0, since: $0.participant == own ? before : nil) }
        let gone = participants.keys.sorted().filter { id in
            !others.contains { $0.participant == id && $0.identity == participants[id]?.identity }
        }
        var media: [Action] = []
        if !mayAnswer {
            for stream in generations.keys.sorted() { media += change(stream) { $0.forgetUnanswered() } }
        }
        media += gone.flatMap { depart($0) }
        // Subscriptions may have been confirmed by events that were lost.
        media += enterChoice(grant, isSameStay: isSameStay && mayAnswer)
        let come = others.filter { participants[$0.participant] == nil }
        for entry in others { media += update(entry) }
        media += isSameStay ? resume(roster) : publishing(grant) + withdrawOutgoing() + publishingOutgoing(grant)
        return media + news + described + gone.map { .post(.participantLeft($0, nil)) }
            + come.map { .post(.participantJoined(Participant($0))) } + others.flatMap { noteMute(of: $0) }
    }

    /// Plays what `entry` publishes, and nothing else of it.
    private mutating func update(_ entry: RosterEntry) -> [Action] {
        let wanted = entry.streams.map(\.assignment)
        let dropped = published.values.filter { known in
            known.publisher == entry.participant && !wanted.contains(known.stream.assignment)
        }
        return dropped.map(\.stream.assignment.stream).sorted().flatMap { drop($0) } + arrive(entry)
    }

    /// Goes on with our stream as the room has it: its confirmation may have been lost in the break.
    private mutating func resume(_ roster: RoomRoster) -> [Action] {
        let others = resumeOutgoing(roster)
        if let grant, (stay?.own.role == .talker) != (ownStream != nil) {
            return stopSending() + publishing(grant) + others
        }
        guard let own, let ownStream else { return others }
        let entry = roster[own]?.streams.first { $0.assignment == ownStream }
        guard let entry else { return (isPublished ? stopSending() : []) + others }
        return (isPublished ? beginGeneration(entry.generation) : send(entry)) + others
    }

    private mutating func beginOwn(_ stream: PublishedStream) -> [Action] {
        beginOutgoing(stream) ?? send(stream)
    }

    private mutating func endOwn(_ stream: StreamID) -> [Action] { endOutgoing(stream) ?? stopSending() }

    mutating func publishing(_ grant: JoinGrant) -> [Action] {
        isPublished = false
        mayRepeat = grant.capabilities.contains(.redundantAudio)
        ownStream =
            grant.capabilities.contains(.publish) && stay?.own.role == .talker && publishes ? grant.streams.first : nil
        guard let ownStream else {
            // Whoever only listens has a source to report under all the same.
            return grant.streams.first.map { [.command(.report(as: streamStart($0)))] } ?? []
        }
        return [.ask(.publish(ownStream, interruptibleBy: interruptibleBy, name: streamName))]
            + (isMuted ? [.ask(.setMuted(ownStream.stream, true))] : [])
    }

    // MARK: One participant

    private mutating func arrive(_ entry: RosterEntry) -> [Action] {
        participants[entry.participant] = Participant(entry)
        return entry.streams.flatMap { appear($0, of: entry.participant) }
    }

    private mutating func depart(_ participant: ParticipantID) -> [Action] {
        let unwatched = watch(participant, .off)
        participants[participant] = nil
        muted.remove(participant)
        volumes[participant] = nil
        mutedHere.remove(participant)
        let gone = published.values.filter { $0.publisher == participant }.map(\.stream.assignment.stream).sorted()
        let dropped = gone.flatMap { drop($0) }
        choice.forget(participant)
        sources[participant] = nil
        return unwatched + dropped
    }

    /// A participant publishes a stream, perhaps for long.
    private mutating func appear(_ stream: PublishedStream, of participant: ParticipantID) -> [Action] {
        let assignment = stream.assignment
        published[assignment.stream] = (participant, stream)
        guard !sources[participant, default: []].contains(assignment) else {
            return change(assignment.stream) { $0.take(stream.generation) }
                + expectSilence(!stream.mute.isEmpty, on: assignment.stream)
        }
        return choose { $0.appear(assignment.stream, name: stream.name, of: participant, &$1) }
    }

    mutating func play(_ stream: PublishedStream, of participant: ParticipantID) -> [Action] {
        let assignment = stream.assignment
        guard !sources[participant, default: []].contains(assignment) else { return [] }
        sources[participant, default: []].append(assignment)
        generations[assignment.stream] = StreamGeneration(stream.generation)
        if !stream.mute.isEmpty { silent.insert(assignment.stream) }
        let command = MediaCommand.addStream(
            synchronizationSource: assignment.synchronizationSource, participant: participant.rawValue,
            isMuted: !stream.mute.isEmpty, generation: stream.generation)
        return [.command(command)]
            + (gain(assignment, of: participant) == 1 ? [] : [scale(assignment, of: participant)])
    }

    /// Whoever is muted sends nothing, and has not stalled.
    private mutating func expectSilence(_ isExpected: Bool, on stream: StreamID) -> [Action] {
        guard silent.contains(stream) != isExpected else { return [] }
        if isExpected { silent.insert(stream) } else { silent.remove(stream) }
        return sources.values.joined().filter { $0.stream == stream }.map {
            .command(.setStreamMuted(isExpected, synchronizationSource: $0.synchronizationSource))
        }
    }

    /// A stream is withdrawn.
    private mutating func drop(_ stream: StreamID) -> [Action] {
        let actions = choose { $0.disappear(stream, &$1) }
        published[stream] = nil
        return actions
    }

    /// Plays nothing more of a stream.
    mutating func silence(_ stream: StreamID) -> [Action] {
        guard let publisher = published[stream]?.publisher else { return [] }
        let gone = sources[publisher, default: []].filter { $0.stream == stream }
        sources[publisher, default: []].removeAll { $0.stream == stream }
        return gone.map { end($0) }
    }

    private mutating func end(_ stream: StreamAssignment) -> Action {
        generations[stream.stream] = nil
        silent.remove(stream.stream)
        return .command(.removeStream(synchronizationSource: stream.synchronizationSource))
    }

    private mutating func send(_ stream: PublishedStream) -> [Action] {
        isPublished = true
        ownGeneration = stream.generation
        return [.command(.publish(streamStart(stream.assignment, generation: stream.generation)))]
    }

    func streamStart(_ stream: StreamAssignment, generation: UInt32 = 0, line: UInt64 = 0) -> RTPStreamStart {
        RTPStreamStart(
            synchronizationSource: stream.synchronizationSource, sequenceNumber: UInt16(truncatingIfNeeded: start),
            timestamp: UInt32(truncatingIfNeeded: start >> 16), generation: generation, mayRepeat: mayRepeat,
            line: line)
    }

    private mutating func interrupted(
        _ stream: StreamID, _ generation: UInt32, by participant: ParticipantID
    ) -> [Action] {
        let other = sources.first { $0.value.contains { $0.stream == stream } }
        if let begun = interruptOutgoing(stream, generation) {
            guard participant != own, let own else { return begun }
            return begun + [.post(.interrupted(own, by: participant, generation: generation))]
        }
        let talker = stream == ownStream?.stream ? own : other?.key
        guard let talker else { return [] }
        // What was heard here was dropped when it was asked for; and of our own stream it is we who begin anew.
        let isOurs = participant == own
        let changes = change(stream) { $0.take(generation, isOurs: isOurs) }
        let begun = talker == own ? beginGeneration(generation) : []
        guard !isOurs else { return changes + begun }
        return changes + begun + [.post(.interrupted(talker, by: participant, generation: generation))]
    }

    /// Our stream has been interrupted, if that is news.
    private mutating func beginGeneration(_ generation: UInt32) -> [Action] {
        guard Int32(bitPattern: generation &- ownGeneration) > 0 else { return [] }
        ownGeneration = generation
        return [.command(.beginGeneration(generation))]
    }

    /// Changes what is known of a stream's generations, and has the one in force dropped to where it is another then.
    private mutating func change(_ stream: StreamID, _ body: (inout StreamGeneration) -> Void) -> [Action] {
        guard var generation = generations[stream] else { return [] }
        let before = generation.inForce
        body(&generation)
        generations[stream] = generation
        return generation.inForce == before ? [] : flush(stream, generation.inForce)
    }

    private func flush(_ stream: StreamID, _ generation: UInt32) -> [Action] {
        sources.values.joined().filter { $0.stream == stream }.map {
            .command(.flush(generation: generation, synchronizationSource: $0.synchronizationSource))
        }
    }

    mutating func stopSending() -> [Action] {
        isPublished = false
        return [.command(.stopPublishing)]
    }

    private mutating func noteMute(of entry: RosterEntry) -> [Action] {
        noteMute(entry.streams.contains { !$0.mute.isEmpty }, of: entry.participant)
    }

    /// Tells the listeners where it is news.
    private mutating func noteMute(_ isMuted: Bool, of participant: ParticipantID) -> [Action] {
        guard muted.contains(participant) != isMuted else { return [] }
        if isMuted { muted.insert(participant) } else { muted.remove(participant) }
        return [.post(.participantMuted(participant, isMuted))]
    }
}
