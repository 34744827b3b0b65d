import VoiceRooms

/// What this engine is in its room: its role, its attributes, and what it publishes.
///
///     app ───► requested ─┐                  ┌─► entrance ─────────► the next join
///     room ──► told ──────┼─► what differs? ─┼─► ask ──────────────► room
///              asked ─────┘                  └─► send, stop, report ─► media
///
/// What is requested and told is sent, nothing else. What is requested and not told is asked for: of each thing one
/// request is on its way at a time, and when its answer has come, or the roster after a break, what still differs is
/// asked for next. So the last request of the app holds, whatever was lost, refused or overtaken, and a new stay is as
/// the one before. No clock and no random source. The control thread's alone; of it the network thread has the
/// ``RequestedPresence/entrance``, whole.
struct RoomPresence {
    /// What is to be done.
    enum Order: Equatable {
        case ask(RoomMessage)
        /// Send what a line says as this stream. Line 0 is the microphone.
        case send(PublishedStream, line: UInt64)
        /// Send nothing more of a line that the app feeds.
        case stop(line: UInt64)
        /// Send nothing of the microphone, and report under its source what is heard.
        case report(StreamAssignment)
        /// A line that is sent was interrupted: what follows is of this generation.
        case begin(generation: UInt32, line: UInt64)
        /// The room has no place for a line.
        case refuse
    }

    /// What can be asked for.
    private enum Matter { case role, attributes, streams, mute }

    private enum Asked: Equatable {
        case nothing
        case withdrawal
        case publication(String)
    }

    /// A stream that the room has set aside. The first is the microphone's, whether that is published or not.
    private struct Place {
        let assignment: StreamAssignment
        /// Whose sound it is for; nil where it is free.
        var line: UInt64?
        /// As the room publishes it; nil where it does not.
        var told: PublishedStream?
        var asked = Asked.nothing
        /// The name under which the room does not publish it.
        var refused: String?
        /// What is sent by it.
        var sent: UInt64?

        /// Whether the room has it as was asked for.
        var isAsAsked: Bool {
            switch asked {
            case .nothing: true
            case .withdrawal: told == nil
            case .publication(let name): told?.name == name
            }
        }
    }

    private(set) var requested: RequestedPresence
    private var places: [Place] = []
    private var isIn = false
    private var isAway = false
    private var mayPublish = false
    private var told = (role: RoomRole.listener, attributes: ParticipantAttributes())
    private var asked: (role: RoomRole?, attributes: ParticipantAttributes?, isMuted: Bool?)
    /// What is not asked for again before the app asks for it, or another stay begins.
    private var refused = (role: false, attributes: false)
    /// What is asked for again after a while: it could not be sent, or came too often.
    private var postponed: Set<Matter> = []
    /// Lines of which the app was told that there is no place for them.
    private var unplaced: Set<UInt64> = []
    /// Whether it is reported under the microphone's source; what was said before it is known whether the microphone is
    /// published is kept for it.
    private var isReporting = false

    init(_ requested: RequestedPresence) { self.requested = requested }

    // MARK: What the app requests

    mutating func setRole(_ role: RoomRole, _ orders: inout [Order]) {
        (requested.role, refused.role) = (role, false)
        postponed.remove(.role)
        settle(&orders)
    }

    /// Publishes the microphone by this name, or not at all where it is nil.
    mutating func publish(as name: String?, _ orders: inout [Order]) {
        requested.microphone = name
        if !places.isEmpty { places[0].refused = nil }
        postponed.remove(.streams)
        settle(&orders)
    }

    mutating func setMuted(_ isMuted: Bool, _ orders: inout [Order]) {
        requested.isMuted = isMuted
        postponed.remove(.mute)
        settle(&orders)
    }

    mutating func setAttributes(_ attributes: ParticipantAttributes, _ orders: inout [Order]) {
        (requested.attributes, refused.attributes) = (attributes, false)
        postponed.remove(.attributes)
        settle(&orders)
    }

    /// Publishes what a far end of the app's says under this name, or no more where it is nil.
    mutating func publish(line: UInt64, as name: String?, _ orders: inout [Order]) {
        requested.outgoing[line] = name
        unplaced.remove(line)
        postponed.remove(.streams)
        if name == nil, let index = places.firstIndex(where: { $0.line == line }) {
            (places[index].line, places[index].refused) = (nil, nil)
        }
        settle(&orders)
    }

    /// Asks for what was postponed.
    mutating func askAgain(_ orders: inout [Order]) {
        postponed = []
        settle(&orders)
    }

    // MARK: What is

    /// Whether something is to be asked for again after a while.
    var isPostponed: Bool { isIn && !isAway && !postponed.isEmpty }

    /// Whether nothing is on its way to the room, nor to be.
    var isSettled: Bool {
        postponed.isEmpty && asked.role == nil && asked.attributes == nil && asked.isMuted == nil
            && places.allSatisfy { $0.asked == .nothing }
    }

    /// The stream of the microphone; nil where that is not to be published.
    var microphone: StreamAssignment? {
        isTalker && requested.microphone != nil ? places.first?.assignment : nil
    }

    /// What is published, the microphone first.
    var streams: [RoomMember.Stream] {
        places.compactMap { place in
            guard let told = place.told, let line = place.sent else { return nil }
            return RoomMember.Stream(
                id: told.assignment.stream, synchronizationSource: told.assignment.synchronizationSource,
                isMuted: line == 0 && requested.isMuted, name: told.name)
        }
    }

    /// Whether a stream is one of this engine's.
    func has(_ stream: StreamID) -> Bool { places.contains { $0.assignment.stream == stream && $0.line != nil } }

    /// Which generation of the microphone's stream the room has told last; nil where that is not published.
    var generation: UInt32? { places.first?.told?.generation }

    /// Whether the microphone's packets are forwarded.
    var isHeard: Bool { places.first?.sent != nil }

    private var isTalker: Bool { mayPublish && requested.role == .talker && told.role == .talker }

    // MARK: What the room tells

    /// The engine is in the room, anew or back in it.
    mutating func enter(
        _ grant: JoinGrant, _ entry: RosterEntry, _ continuity: StayContinuity, _ orders: inout [Order]
    ) {
        if continuity == .anew { begin(grant, entry, &orders) }
        (isIn, isAway, mayPublish) = (true, false, grant.capabilities.contains(.publish))
        postponed = []
        takeRole(entry.role, continuity, &orders)
        takeAttributes(entry.attributes, continuity)
        if !continuity.mayAnswer { asked.isMuted = nil }
        let renamed = takeStreams(entry.streams, continuity, &orders)
        if told.role == .listener || isMutedAsAsked || isMuteForgotten { asked.isMuted = nil }
        settle(&orders)
        // Others have these as new streams.
        for (index, stream, line) in renamed where places[index].sent == line {
            orders.append(.send(stream, line: line))
        }
    }

    /// Takes the role that the roster has.
    private mutating func takeRole(_ role: RoomRole, _ continuity: StayContinuity, _ orders: inout [Order]) {
        // A listener that nobody here has asked for is the server's decision. To be heard is the app's alone.
        let isDecided = continuity != .anew && asked.role == nil && requested.role == told.role
        if isDecided, role == .listener { requested.role = .listener }
        if asked.role == role {
            asked.role = nil
        } else if let wanted = asked.role, !continuity.mayAnswer {
            orders.append(.ask(.setRole(wanted)))
        }
        // That a listener's streams were withdrawn may be known, and why not.
        if !continuity.mayAnswer || told.role != role { forgetRefusals() }
        told.role = role
    }

    /// Takes the attributes that the roster has; those that were refused may be asked for again.
    private mutating func takeAttributes(_ attributes: ParticipantAttributes, _ continuity: StayContinuity) {
        told.attributes = attributes
        if !continuity.mayAnswer || asked.attributes == attributes { asked.attributes = nil }
        refused.attributes = false
    }

    /// Takes the streams that the roster has; returns those that are sent and have another name than before.
    private mutating func takeStreams(
        _ streams: [PublishedStream], _ continuity: StayContinuity, _ orders: inout [Order]
    ) -> [(index: Int, stream: PublishedStream, line: UInt64)] {
        var renamed: [(index: Int, stream: PublishedStream, line: UInt64)] = []
        for index in places.indices {
            let stream = streams.first { $0.assignment == places[index].assignment }
            if let stream, let line = places[index].sent { begin(stream.generation, of: line, at: index, &orders) }
            let isRenamed = stream?.name != places[index].told?.name
            places[index].told = stream
            if isRenamed, let stream, let line = places[index].sent { renamed.append((index, stream, line)) }
            if places[index].isAsAsked || told.role == .listener {
                places[index].asked = .nothing
            } else if !continuity.mayAnswer {
                repeatRequest(at: index, &orders)
            }
        }
        return renamed
    }

    private mutating func forgetRefusals() {
        for index in places.indices { places[index].refused = nil }
        unplaced = []
    }

    /// Asks once more for what the room has not done, since its answer may be lost: what is still to be done is
    /// answered for certain.
    private mutating func repeatRequest(at index: Int, _ orders: inout [Order]) {
        let place = places[index]
        if place.told != nil { orders.append(.ask(.unpublish(place.assignment.stream))) }
        if case .publication(let name) = place.asked { publish(index, as: name, &orders) }
    }

    private mutating func begin(_ grant: JoinGrant, _ entry: RosterEntry, _ orders: inout [Order]) {
        stopLines(&orders)
        places = grant.streams.map { Place(assignment: $0) }
        if !places.isEmpty { places[0].line = 0 }
        asked = (nil, nil, nil)
        // Who may not talk listens, whatever it has asked for.
        refused = (!grant.capabilities.contains(.publish), false)
        unplaced = []
        isReporting = false
    }

    private mutating func stopLines(_ orders: inout [Order]) {
        for line in places.compactMap(\.sent).sorted() where line != 0 { orders.append(.stop(line: line)) }
    }

    /// The room does not answer. What is asked for meanwhile is, when it does again.
    mutating func lose() { isAway = true }

    /// The engine is out of the room.
    mutating func leave(_ orders: inout [Order]) {
        stopLines(&orders)
        places = []
        (isIn, isAway) = (false, false)
    }

    mutating func published(_ stream: PublishedStream, _ orders: inout [Order]) {
        guard let index = index(of: stream.assignment.stream) else { return }
        places[index].told = stream
        switch places[index].asked {
        case .nothing: break
        // Where it has another name than was asked for it was published before, and is not again.
        case .publication: places[index].asked = .nothing
        // By a request that was taken for lost, perhaps behind the withdrawal, of which nothing is told then.
        case .withdrawal: orders.append(.ask(.unpublish(stream.assignment.stream)))
        }
        if index == 0, isMutedAsAsked { asked.isMuted = nil }
        let line = places[index].sent
        settle(&orders)
        // Others have it as a new stream.
        if let line, places[index].sent == line { orders.append(.send(stream, line: line)) }
    }

    mutating func unpublished(_ stream: StreamID, _ orders: inout [Order]) {
        guard let index = index(of: stream) else { return }
        places[index].told = nil
        switch places[index].asked {
        case .withdrawal: places[index].asked = .nothing
        // Nobody here has asked for it: so it stays.
        case .nothing: places[index].refused = name(at: index)
        case .publication: break
        }
        if isMuteForgotten { asked.isMuted = nil }
        settle(&orders)
    }

    mutating func muteChanged(_ stream: StreamID, _ mute: MuteState, _ orders: inout [Order]) {
        guard let index = index(of: stream) else { return }
        places[index].told?.mute = mute
        if index == 0, isMutedAsAsked { asked.isMuted = nil }
        settle(&orders)
    }

    mutating func roleChanged(_ role: RoomRole, _ orders: inout [Order]) {
        if asked.role == nil, role == .listener { requested.role = .listener }
        if asked.role == role { asked.role = nil }
        (told.role, refused.role) = (role, false)
        forgetRefusals()
        if role == .listener {
            // The room has withdrawn what it published.
            for index in places.indices { (places[index].told, places[index].asked) = (nil, .nothing) }
            asked.isMuted = nil
        }
        settle(&orders)
    }

    mutating func attributesChanged(_ attributes: ParticipantAttributes, _ orders: inout [Order]) {
        told.attributes = attributes
        if asked.attributes == attributes { asked.attributes = nil }
        settle(&orders)
    }

    /// A stream was interrupted, if that is news.
    mutating func interrupted(_ stream: StreamID, _ generation: UInt32, _ orders: inout [Order]) {
        guard let index = index(of: stream) else { return }
        begin(generation, of: places[index].line ?? 0, at: index, &orders)
    }

    private mutating func begin(_ generation: UInt32, of line: UInt64, at index: Int, _ orders: inout [Order]) {
        guard let before = places[index].told?.generation, Int32(bitPattern: generation &- before) > 0 else { return }
        places[index].told?.generation = generation
        if places[index].sent == line { orders.append(.begin(generation: generation, line: line)) }
    }

    /// A request was refused, or where `refusal` is nil could not be sent. Whether that is news for the app: not where
    /// it is only postponed.
    mutating func refused(
        _ request: RoomRequest, _ subject: UInt32, _ refusal: RoomRefusal?, _ orders: inout [Order]
    ) -> Bool {
        let index = index(of: StreamID(rawValue: subject))
        let isForNow = [nil, .tooOften, .receiverBusy].contains(refusal)
        var isNews = !isForNow
        switch request {
        case .setRole: if refuseRole(isForNow: isForNow) { isNews = true }
        case .setAttributes:
            if isForNow { postponed.insert(.attributes) }
            refused.attributes = !isForNow && requested.attributes == asked.attributes
            asked.attributes = nil
        case .publish:
            if isForNow { postponed.insert(.streams) }
            if let index { refusePublication(at: index, isForNow: isForNow) }
        case .unpublish:
            if isForNow { postponed.insert(.streams) }
            if let index { refuseWithdrawal(at: index, isForNow: isForNow) }
        case .setMuted:
            if isForNow { postponed.insert(.mute) }
            asked.isMuted = nil
            return isNews && refusal != .unknownStream
        default: return true
        }
        settle(&orders)
        // What is not published need not be withdrawn, and a role that has changed is told by itself.
        return isNews && !(request == .unpublish && refusal == .unknownStream) && refusal != .listenerCannotPublish
    }

    /// Returns whether a wish to talk is given up, of which the app is told.
    private mutating func refuseRole(isForNow: Bool) -> Bool {
        // Who wants to be heard is not from some time on that the app does not know; who does not want to be heard never
        // is. Unless the app has asked for another role since.
        let isGivenUp = requested.role == .talker && asked.role == .talker
        if isGivenUp { requested.role = told.role }
        asked.role = nil
        if requested.role != told.role, isForNow { postponed.insert(.role) }
        refused.role = requested.role != told.role && !isForNow
        return isGivenUp
    }

    private mutating func refusePublication(at index: Int, isForNow: Bool) {
        guard case .publication(let name) = places[index].asked else { return }
        // What it was called before is withdrawn all the same.
        places[index].asked = places[index].told == nil ? .nothing : .withdrawal
        if index == 0 { asked.isMuted = nil }
        if !isForNow { places[index].refused = name }
    }

    private mutating func refuseWithdrawal(at index: Int, isForNow: Bool) {
        // What is published anew must be withdrawn before.
        guard places[index].asked == .withdrawal || isForNow else { return }
        places[index].asked = .nothing
        if index == 0 { asked.isMuted = nil }
        if !isForNow { places[index].told = nil }
    }

    // MARK: What differs

    private func index(of stream: StreamID) -> Int? { places.firstIndex { $0.assignment.stream == stream } }

    /// What the place's stream is to be called; nil where it is not to be published.
    private func name(at index: Int) -> String? {
        guard let line = places[index].line else { return nil }
        return line == 0 ? requested.microphone : requested.outgoing[line]
    }

    private var isMutedAsAsked: Bool {
        guard let told = places.first?.told else { return false }
        return told.mute.contains(.byPublisher) == asked.isMuted
    }

    /// Whether there is nothing that could be muted: what was asked of it has come to nothing.
    private var isMuteForgotten: Bool { places.first.map { $0.told == nil && $0.asked == .nothing } ?? true }

    private mutating func settle(_ orders: inout [Order]) {
        guard isIn else { return }
        if !isAway {
            if requested.role != told.role, asked.role == nil, isOpen(.role, refused.role) {
                orders.append(.ask(.setRole(requested.role)))
                asked.role = requested.role
            }
            if isTalker, asked.role == nil { settlePlaces(&orders) }
            if requested.attributes != told.attributes, asked.attributes == nil,
                isOpen(.attributes, refused.attributes)
            {
                orders.append(.ask(.setAttributes(requested.attributes)))
                asked.attributes = requested.attributes
            }
        }
        settleSending(&orders)
    }

    /// Whether a matter may be asked for now.
    private func isOpen(_ matter: Matter, _ isRefused: Bool = false) -> Bool {
        !isRefused && !postponed.contains(matter)
    }

    private mutating func settlePlaces(_ orders: inout [Order]) {
        for line in requested.outgoing.keys.sorted() where !places.contains(where: { $0.line == line }) {
            place(line, &orders)
        }
        for index in places.indices where places[index].asked == .nothing && isOpen(.streams) {
            let name = name(at: index)
            guard name != places[index].told?.name else { continue }
            if places[index].told != nil {
                orders.append(.ask(.unpublish(places[index].assignment.stream)))
                places[index].asked = .withdrawal
            }
            if let name, name != places[index].refused { publish(index, as: name, &orders) }
        }
        guard let microphone = places.first, microphone.asked != .withdrawal, asked.isMuted == nil, isOpen(.mute),
            microphone.told != nil || microphone.asked != .nothing,
            microphone.told?.mute.contains(.byPublisher) ?? false != requested.isMuted
        else { return }
        tellMute(&orders)
    }

    /// Gives a line a place, one where nothing is to be withdrawn before if there is one.
    private mutating func place(_ line: UInt64, _ orders: inout [Order]) {
        let free = places.indices.dropFirst().filter { places[$0].line == nil }
        let empty = free.first { places[$0].told == nil && places[$0].asked == .nothing }
        if let index = empty ?? free.first {
            places[index].line = line
        } else if unplaced.insert(line).inserted {
            orders.append(.refuse)
        }
    }

    private mutating func publish(_ index: Int, as name: String, _ orders: inout [Order]) {
        let policy = requested.interruptibleBy
        orders.append(.ask(.publish(places[index].assignment, interruptibleBy: policy, name: name)))
        places[index].asked = .publication(name)
        guard index == 0 else { return }
        // The room has forgotten it with the stream, and what was asked of that.
        asked.isMuted = nil
        if requested.isMuted { tellMute(&orders) }
    }

    private mutating func tellMute(_ orders: inout [Order]) {
        orders.append(.ask(.setMuted(places[0].assignment.stream, requested.isMuted)))
        asked.isMuted = requested.isMuted
    }

    private mutating func settleSending(_ orders: inout [Order]) {
        for index in places.indices {
            let isSent = isToBeSent(index)
            if let line = places[index].sent, !isSent || line != places[index].line {
                places[index].sent = nil
                if line == 0 { report(&orders) } else { orders.append(.stop(line: line)) }
            }
            guard isSent, places[index].sent == nil, let told = places[index].told, let line = places[index].line else {
                continue
            }
            orders.append(.send(told, line: line))
            places[index].sent = line
            if line == 0 { isReporting = false }
        }
        // Whoever only listens has a source to report under all the same.
        guard let microphone = places.first, microphone.sent == nil, !isReporting else { return }
        if case .publication = microphone.asked, requested.role == .talker, requested.microphone != nil { return }
        report(&orders)
    }

    /// Whether a place's line is sent: what is requested is what the room has told. What is only called otherwise is
    /// sent on.
    private func isToBeSent(_ index: Int) -> Bool {
        let place = places[index]
        guard let told = place.told, let name = name(at: index), requested.role == .talker else { return false }
        return switch place.asked {
        case .nothing: told.name == name
        case .withdrawal: false
        case .publication(let next): next == name && place.sent == place.line
        }
    }

    private mutating func report(_ orders: inout [Order]) {
        orders.append(.report(places[0].assignment))
        isReporting = true
    }
}
