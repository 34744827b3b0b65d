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
    /// Lines of which the app was told that there is no place for them.
    private var unplaced: Set<UInt64> = []
    /// Whether it is reported under the microphone's source; what was said before it is known whether the microphone is
    /// published is kept for it.
    private var isReporting = false

    init(_ requested: RequestedPresence) { self.requested = requested }

    // MARK: What the app requests

    mutating func setRole(_ role: RoomRole, _ orders: inout [Order]) {
        (requested.role, refused.role) = (role, false)
        settle(&orders)
    }

    /// Publishes the microphone by this name, or not at all where it is nil.
    mutating func publish(as name: String?, _ orders: inout [Order]) {
        requested.microphone = name
        if !places.isEmpty { places[0].refused = nil }
        settle(&orders)
    }

    mutating func setMuted(_ isMuted: Bool, _ orders: inout [Order]) {
        requested.isMuted = isMuted
        settle(&orders)
    }

    mutating func setAttributes(_ attributes: ParticipantAttributes, _ orders: inout [Order]) {
        (requested.attributes, refused.attributes) = (attributes, false)
        settle(&orders)
    }

    /// Publishes what a far end of the app's says under this name, or no more where it is nil.
    mutating func publish(line: UInt64, as name: String?, _ orders: inout [Order]) {
        requested.outgoing[line] = name
        unplaced.remove(line)
        if name == nil, let index = places.firstIndex(where: { $0.line == line }) {
            (places[index].line, places[index].refused) = (nil, nil)
        }
        settle(&orders)
    }

    // MARK: What is

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

    /// Whether the microphone's packets are forwarded.
    var isHeard: Bool { places.first?.sent != nil }

    private var isTalker: Bool { mayPublish && requested.role == .talker && told.role == .talker }

    // MARK: What the room tells

    /// The engine is in the room, anew or back in it.
    ///
    /// - Parameter mayAnswer: whether answers to what was asked may still come.
    mutating func enter(
        _ grant: JoinGrant, _ entry: RosterEntry, isSameStay: Bool, mayAnswer: Bool, _ orders: inout [Order]
    ) {
        if !isSameStay { begin(grant, entry, &orders) }
        (isIn, isAway, mayPublish) = (true, false, grant.capabilities.contains(.publish))
        // A role that nobody here has asked for is the server's decision; but where the answer was lost to what was asked
        // it comes to an end only by asking again.
        let isDecided = isSameStay && asked.role == nil && requested.role == told.role
        if isDecided { requested.role = entry.role }
        if isSameStay, !mayAnswer, asked.role != nil {
            orders.append(.ask(.setRole(requested.role)))
            asked.role = requested.role
        } else if asked.role == entry.role {
            asked.role = nil
        }
        told = (entry.role, entry.attributes)
        if !mayAnswer || asked.attributes == told.attributes { asked.attributes = nil }
        refused.attributes = false
        for index in places.indices {
            let stream = entry.streams.first { $0.assignment == places[index].assignment }
            if let stream, let line = places[index].sent { begin(stream.generation, of: line, at: index, &orders) }
            places[index].told = stream
            let isAnswered =
                switch places[index].asked {
                case .nothing: true
                case .withdrawal: stream == nil
                case .publication(let name): stream?.name == name
                }
            if !mayAnswer || isAnswered || told.role == .listener { places[index].asked = .nothing }
        }
        if !mayAnswer || told.role == .listener || isMutedAsAsked { asked.isMuted = nil }
        settle(&orders)
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
        // Where it has another name than was asked for it was published before, and is not again.
        if case .publication = places[index].asked { places[index].asked = .nothing }
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
        if index == 0, places[0].asked == .nothing { asked.isMuted = nil }
        settle(&orders)
    }

    mutating func muteChanged(_ stream: StreamID, _ mute: MuteState, _ orders: inout [Order]) {
        guard let index = index(of: stream) else { return }
        places[index].told?.mute = mute
        if index == 0, isMutedAsAsked { asked.isMuted = nil }
        settle(&orders)
    }

    mutating func roleChanged(_ role: RoomRole, _ orders: inout [Order]) {
        if asked.role == nil { requested.role = role }
        if asked.role == role { asked.role = nil }
        (told.role, refused.role) = (role, false)
        for index in places.indices {
            places[index].refused = nil
            // The room has withdrawn what a listener published.
            if role == .listener { (places[index].told, places[index].asked) = (nil, .nothing) }
        }
        if role == .listener { asked.isMuted = nil }
        unplaced = []
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

    /// A request was refused, or where `refusal` is nil could not be sent. Whether that is news for the app.
    mutating func refused(
        _ request: RoomRequest, _ subject: UInt32, _ refusal: RoomRefusal?, _ orders: inout [Order]
    ) -> Bool {
        let index = index(of: StreamID(rawValue: subject))
        switch request {
        case .setRole:
            // Unless the app has asked for another one since.
            if requested.role == asked.role { requested.role = told.role }
            asked.role = nil
        case .setAttributes:
            refused.attributes = refusal != nil && requested.attributes == asked.attributes
            asked.attributes = nil
        case .publish:
            guard let index, case .publication(let name) = places[index].asked else { break }
            places[index].asked = .nothing
            if index == 0 { asked.isMuted = nil }
            if refusal != nil { places[index].refused = name }
        case .unpublish:
            // What is published anew must be withdrawn before.
            guard let index, places[index].asked == .withdrawal || refusal == nil else { break }
            places[index].asked = .nothing
            if refusal != nil { places[index].told = nil }
        case .setMuted:
            asked.isMuted = nil
            return refusal != .unknownStream
        default: return true
        }
        // What could not be sent is asked for again with whatever is next: at once it could not be either.
        guard refusal != nil || request == .setRole else { return true }
        settle(&orders)
        // What is not published need not be withdrawn, and a role that has changed is told by itself.
        return !(request == .unpublish && refusal == .unknownStream) && refusal != .listenerCannotPublish
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

    private mutating func settle(_ orders: inout [Order]) {
        guard isIn else { return }
        if !isAway {
            if requested.role != told.role, asked.role == nil, !refused.role {
                orders.append(.ask(.setRole(requested.role)))
                asked.role = requested.role
            }
            if isTalker, asked.role == nil { settlePlaces(&orders) }
            if requested.attributes != told.attributes, asked.attributes == nil, !refused.attributes {
                orders.append(.ask(.setAttributes(requested.attributes)))
                asked.attributes = requested.attributes
            }
        }
        settleSending(&orders)
    }

    private mutating func settlePlaces(_ orders: inout [Order]) {
        for line in requested.outgoing.keys.sorted() where !places.contains(where: { $0.line == line }) {
            place(line, &orders)
        }
        for index in places.indices where places[index].asked == .nothing {
            let name = name(at: index)
            guard name != places[index].told?.name else { continue }
            if places[index].told != nil {
                orders.append(.ask(.unpublish(places[index].assignment.stream)))
                places[index].asked = .withdrawal
            }
            if let name, name != places[index].refused { publish(index, as: name, &orders) }
        }
        guard let microphone = places.first, microphone.asked != .withdrawal, asked.isMuted == nil,
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
        // The room has forgotten it with the stream.
        if index == 0, requested.isMuted { tellMute(&orders) }
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
