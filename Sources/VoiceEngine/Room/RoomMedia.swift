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
    /// What this engine is in the room.
    var presence: RoomPresence
    var patience = Patience()
    var own: ParticipantID? { stay?.own.id }
    /// Whether the session tries to come back. What it tells of the others meanwhile is left to the roster that it
    /// comes back with: a new server gives the old numbers to others, and only with the roster it says which one is
    /// ours.
    package internal(set) var isAway = false
    /// What each participant publishes, and what of that is played here.
    var published: [StreamID: (publisher: ParticipantID, stream: PublishedStream)] = [:]
    var played = PlayedStreams()
    private var volumes: ListeningVolumes
    var choice: StreamChoice
    /// The grant in force.
    var grant: JoinGrant?
    /// Who the listeners were told is muted.
    private var toldMuted: Set<ParticipantID> = []
    /// Who is interrupted by speaking into what it says.
    private var watched: ParticipantID?
    /// What the app has named since it last interrupted its own speech; nil where that is nothing.
    private var named: UtteranceID??
    /// Interruptions of its own speech by the app that the room has not answered.
    private var unanswered: UInt32 = 0
    private let start: UInt64

    /// Media whose RTP stream begins at numbers taken from `randomStart` (RFC 3550, section 5.1).
    ///
    /// - Parameter requests: what the app has asked for before there was a room.
    package init(randomStart: UInt64, requests: StreamRequests = StreamRequests()) {
        start = randomStart
        presence = RoomPresence(requests.presence)
        choice = StreamChoice(names: requests.played)
        volumes = ListeningVolumes(requests)
    }

    /// The streams of a participant that are played here, and whether each is muted.
    package func streams(of participant: ParticipantID) -> [RoomMember.Stream] {
        played[participant].map { assignment in
            RoomMember.Stream(
                id: assignment.stream, synchronizationSource: assignment.synchronizationSource,
                isMuted: played.isMuted(assignment.stream), name: name(of: assignment.stream))
        }
    }

    /// Who publishes each synchronization source that is played here.
    package var talkers: [UInt32: ParticipantID] { played.talkers }

    /// Scales what is heard of a participant, also of what it is yet to publish.
    package mutating func setVolume(_ volume: Float, for participant: ParticipantID) -> [Action] {
        volumes.set(volume, for: participant)
        return scale(participant)
    }

    /// Scales what is heard of the stream of this name, also where it is yet to be published.
    package mutating func setVolume(_ volume: Float, ofStream name: String) -> [Action] {
        volumes.set(volume, ofStream: name)
        return scale(streamsNamed: name)
    }

    /// Has a participant not be heard here, or heard again by its volume.
    package mutating func setMuted(_ isMuted: Bool, for participant: ParticipantID) -> [Action] {
        volumes.setMuted(isMuted, for: participant)
        return scale(participant)
    }

    /// The same of the stream of this name, also where it is yet to be published.
    package mutating func setMuted(_ isMuted: Bool, ofStream name: String) -> [Action] {
        volumes.setMuted(isMuted, ofStream: name)
        return scale(streamsNamed: name)
    }

    private func name(of stream: StreamID) -> String { published[stream]?.stream.name ?? "" }

    private func scale(_ participant: ParticipantID) -> [Action] {
        played[participant].map { scale($0, of: participant) }
    }

    private func scale(streamsNamed name: String) -> [Action] {
        played.publishers.flatMap { publisher in
            played[publisher].filter { self.name(of: $0.stream) == name }.map { scale($0, of: publisher) }
        }
    }

    private func scale(_ stream: StreamAssignment, of participant: ParticipantID) -> Action {
        let gain = volumes.gain(of: name(of: stream.stream), from: participant)
        return .command(.setVolume(gain: gain, synchronizationSource: stream.synchronizationSource))
    }

    /// Interrupts what a participant says, or this engine where it is nil: what waits of it here is dropped at once,
    /// and everywhere else when the room has told it.
    package mutating func interrupt(_ participant: ParticipantID?) -> [Action] {
        let streams = participant.map { played[$0].map(\.stream) } ?? ownStream.map { [$0.stream] } ?? []
        if participant == nil { (named, unanswered) = (nil, unanswered + UInt32(streams.count)) }
        return streams.flatMap { stream in
            change(stream) { $0.interrupt() } + [.ask(.interrupt(stream))]
        }
    }

    /// What this engine says from now on is this utterance, as the media thread was told; nil: none.
    package mutating func name(_ utterance: UtteranceID?) { named = .some(utterance) }

    /// An interruption of ours was refused, or could not be asked for: what is said goes on to be heard.
    package mutating func interruptionRefused(_ stream: StreamID) -> [Action] {
        answered(stream)
        return change(stream) { $0.withdraw() }
    }

    /// Whose stream is played.
    func publisher(of stream: StreamID) -> ParticipantID? { played.publisher(of: stream) }

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
        let streams = played[ParticipantID(rawValue: news.participant)]
        return streams.filter { $0.synchronizationSource == news.synchronizationSource }.map {
            .ask(.tellHeard(HeardReport(HeardUtterance(news), on: $0.stream)))
        }
    }

    /// The first packet of a generation of our stream was sent.
    package func generationStarted(_ generation: UInt32, timestamp: UInt32) -> [Action] {
        guard let ownStream, presence.isHeard else { return [] }
        let start = GenerationStart(stream: ownStream.stream, generation: generation, timestamp: timestamp)
        return [.ask(.tellGeneration(start))]
    }

    /// What follows from `event`.
    package mutating func handle(_ event: RoomSessionEvent) -> [Action] {
        switch event {
        case .joined(let grant, let roster): return enter(grant, roster)
        case .reconnecting:
            isAway = true
            presence.lose()
            return [.post(.connectionLost)] + choose { $0.lose(&$1) }
        case .reconnected(let grant, let roster): return comeBack(grant, roster)
        case .messagesDropped(let count): return [.post(.messagesDropped(count))]
        case .ended: return leave()
        default: return isAway ? [] : handleInRoom(event)
        }
    }

    /// Ends all media of the room.
    package mutating func leave() -> [Action] {
        var departures = participants.keys.sorted().flatMap { depart($0) }
        departures += choose { $0.leave(&$1) }
        departures += settle { $0.leave(&$1) }
        published = [:]
        grant = nil
        isAway = false
        played = PlayedStreams()
        return departures + [.command(.stopPublishing)]
    }

    private mutating func handleInRoom(_ event: RoomSessionEvent) -> [Action] {
        switch event {
        case .participantJoined(let entry):
            return arrive(entry) + [.post(.participantJoined(Participant(entry)))] + noteMute(of: entry)
        case .participantLeft(let participant, let reason):
            return depart(participant) + [.post(.participantLeft(participant, reason))]
        case .published(let participant, let stream):
            guard participant != own else { return settle { $0.published(stream, &$1) } }
            let begun = appear(stream, of: participant, isNew: true)
            return stream.mute.isEmpty ? begun : begun + noteMute(true, of: participant)
        case .unpublished(let participant, let stream):
            return participant == own ? settle { $0.unpublished(stream, &$1) } : drop(stream)
        case .muteChanged(let participant, let stream, let mute):
            guard participant != own else { return settle { $0.muteChanged(stream, mute, &$1) } }
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
            let told = describe(participant) { $0.attributes = attributes }
            return participant == own ? told + settle { $0.attributesChanged(attributes, &$1) } : told
        case .roleChanged(let participant, let role):
            let told = describe(participant) { $0.role = role }
            return participant == own ? told + settle { $0.roleChanged(role, &$1) } : told
        case .subscriptionChanged(let stream, let isSubscribed):
            return choose { $0.confirm(stream, isSubscribed: isSubscribed, &$1) }
        case .requestRefused(.subscribe, let subject, let refusal):
            var isNews = false
            let actions = choose { isNews = $0.refuse(StreamID(rawValue: subject), refusal, &$1) }
            return actions + (isNews ? [.post(.requestRefused(.subscribe, refusal))] : [])
        // Its talker has gone meanwhile.
        case .requestRefused(.tellHeard, _, _): return []
        case .requestRefused(.interrupt, let subject, let refusal) where refusal != .receiverBusy:
            return interruptionRefused(StreamID(rawValue: subject)) + [.post(.requestRefused(.interrupt, refusal))]
        case .requestRefused(let request, let subject, let refusal):
            var isNews = false
            let actions = settle { isNews = $0.refused(request, subject, refusal, &$1) }
            return actions + (isNews ? [.post(.requestRefused(request, refusal))] : [])
        case .joined, .reconnecting, .tokenExpiring, .tokenRefused, .reconnected, .messagesDropped, .ended: return []
        }
    }

    // MARK: One participant

    mutating func arrive(_ entry: RosterEntry) -> [Action] {
        participants[entry.participant] = Participant(entry)
        return entry.streams.flatMap { appear($0, of: entry.participant, isNew: false) }
    }

    mutating func depart(_ participant: ParticipantID) -> [Action] {
        let unwatched = watch(participant, .off)
        participants[participant] = nil
        toldMuted.remove(participant)
        volumes.forget(participant)
        let gone = published.values.filter { $0.publisher == participant }.map(\.stream.assignment.stream).sorted()
        let dropped = gone.flatMap { drop($0) }
        choice.forget(participant)
        played.forget(participant)
        return unwatched + dropped
    }

    /// A participant publishes a stream, perhaps for long.
    private mutating func appear(_ stream: PublishedStream, of participant: ParticipantID, isNew: Bool) -> [Action] {
        let assignment = stream.assignment
        // A stream is one participant's, by one source: of what it was before nothing is kept, whatever a room says.
        let isAnothers = published[assignment.stream].map {
            $0.publisher != participant || $0.stream.assignment != assignment
        }
        let dropped = isAnothers == true ? drop(assignment.stream) : []
        published[assignment.stream] = (participant, stream)
        let chosen = choose { $0.appear(assignment.stream, name: stream.name, of: participant, isNew: isNew, &$1) }
        guard played[participant].contains(assignment) else { return dropped + chosen }
        return dropped + chosen + change(assignment.stream) { $0.take(stream.generation) }
            + expectSilence(!stream.mute.isEmpty, on: assignment.stream)
    }

    mutating func play(_ stream: PublishedStream, of participant: ParticipantID) -> [Action] {
        let assignment = stream.assignment
        guard !played[participant].contains(assignment) else { return [] }
        let begin = Action.command(played.begin(stream, of: participant))
        let gain = volumes.gain(of: stream.name, from: participant)
        return gain == 1 ? [begin] : [begin, scale(assignment, of: participant)]
    }

    private mutating func expectSilence(_ isExpected: Bool, on stream: StreamID) -> [Action] {
        played.setMuted(isExpected, stream).map { [.command($0)] } ?? []
    }

    /// A stream is withdrawn.
    mutating func drop(_ stream: StreamID) -> [Action] {
        let actions = choose { $0.disappear(stream, &$1) }
        published[stream] = nil
        return actions
    }

    /// Plays nothing more of a stream.
    mutating func silence(_ stream: StreamID) -> [Action] {
        guard let publisher = published[stream]?.publisher else { return [] }
        return played.end(stream, of: publisher).map { [.command($0)] } ?? []
    }

    /// - Parameter line: 0 for the microphone.
    func streamStart(_ stream: StreamAssignment, generation: UInt32 = 0, line: UInt64 = 0) -> RTPStreamStart {
        RTPStreamStart(
            synchronizationSource: stream.synchronizationSource, sequenceNumber: UInt16(truncatingIfNeeded: start),
            timestamp: UInt32(truncatingIfNeeded: start >> 16), generation: generation,
            // The room takes out what is repeated for whoever does not take it.
            mayRepeat: grant?.capabilities.contains(.redundantAudio) == true,
            line: line)
    }

    private mutating func interrupted(
        _ stream: StreamID, _ generation: UInt32, by participant: ParticipantID
    ) -> [Action] {
        // Whoever plays it again, or for the first time, begins there.
        if let known = published[stream]?.stream.generation, Int32(bitPattern: generation &- known) > 0 {
            published[stream]?.stream.generation = generation
        }
        let talker = presence.has(stream) ? own : played.publisher(of: stream)
        guard let talker else { return [] }
        // What was heard here was dropped when it was asked for; and of our own stream it is we who begin anew.
        let isOurs = participant == own
        let changes = change(stream) { $0.take(generation, isOurs: isOurs) }
        let begun = talker == own ? settle { $0.interrupted(stream, generation, &$1) } : []
        if isOurs {
            answered(stream)
            return changes + begun + (stream == ownStream?.stream ? nameAgain(behind: begun) : [])
        }
        if stream == ownStream?.stream { named = nil }
        return changes + begun + [.post(.interrupted(talker, by: participant, generation: generation))]
    }

    /// The room tells an interruption of ours a way there and back after it was asked for. It is of what was said before
    /// that: what was named meanwhile begins behind it, and would else never be heard.
    private func nameAgain(behind begun: [Action]) -> [Action] {
        let isBegun = begun.contains { if case .command(.beginGeneration) = $0 { true } else { false } }
        guard isBegun, let named else { return [] }
        return [.command(.beginUtterance(named?.rawValue))]
    }

    /// A roster tells at once what events would tell one by one, and those that come behind it are no news any more. As
    /// many generations as interruptions of ours wait for an answer are these; of more, somebody else's is one.
    ///
    /// - Parameters:
    ///   - begun: what follows from the roster.
    ///   - before: the generation that the room had told before.
    mutating func nameAgain(
        behind begun: [Action], since before: UInt32?, _ continuity: StayContinuity
    ) -> [Action] {
        defer { if !continuity.mayAnswer { unanswered = 0 } }
        guard continuity != .anew, let before, let now = presence.generation else { return [] }
        if Int64(now &- before) > Int64(unanswered) { named = nil }
        return nameAgain(behind: begun)
    }

    /// The room has answered an interruption of ours, or will not.
    private mutating func answered(_ stream: StreamID) {
        if stream == ownStream?.stream { unanswered -= min(unanswered, 1) }
    }

    /// Changes what is known of a stream's generations.
    private mutating func change(_ stream: StreamID, _ body: (inout StreamGeneration) -> Void) -> [Action] {
        played.change(stream, body).map { [.command($0)] } ?? []
    }

    mutating func noteMute(of entry: RosterEntry) -> [Action] {
        noteMute(entry.streams.contains { !$0.mute.isEmpty }, of: entry.participant)
    }

    /// Tells the listeners where it is news.
    private mutating func noteMute(_ isMuted: Bool, of participant: ParticipantID) -> [Action] {
        guard toldMuted.contains(participant) != isMuted else { return [] }
        if isMuted { toldMuted.insert(participant) } else { toldMuted.remove(participant) }
        return [.post(.participantMuted(participant, isMuted))]
    }
}
