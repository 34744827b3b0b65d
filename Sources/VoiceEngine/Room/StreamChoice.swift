import VoiceRooms

/// Which streams of others are heard here: what the app wants by name or by participant, what the room has, and what
/// was asked of it.
///
///     play, stop ──┐                          ┌─► subscribe, unsubscribe ─► room
///     published ───┼─► wanted and there? ─────┼─► begin, end ─► media
///     confirmed ───┘                          └─► tell ─► listeners
///
/// No clock and no random source. Each change costs what the streams that it is about cost.
struct StreamChoice {
    /// What is to be done.
    enum Order: Equatable {
        case subscribe(StreamID)
        case unsubscribe(StreamID)
        /// Play what comes of a stream.
        case begin(StreamID)
        /// Play nothing more of it.
        case end(StreamID)
        /// A stream that the app has named stands differently.
        case tell(String, PlayState)
    }

    private enum Standing: Equatable {
        case ignored
        case asked
        case heard
        case refused(RoomRefusal)
    }

    private struct Entry {
        let publisher: ParticipantID
        let name: String
        var standing = Standing.ignored
        /// Whether the room was asked not to send it.
        var isDeclined = false
    }

    /// Names that an app may have asked for; more are refused.
    static let nameLimit = 256

    /// Whether the room subscribes us to whatever is published.
    private var takesAll = true
    private var isInRoom = false
    private var isAway = false
    /// What the app wants, or does not want, by name; else by participant; else it is what the room does by itself.
    private var names: [String: Bool] = [:]
    private var participants: [ParticipantID: Bool] = [:]
    private var streams: [StreamID: Entry] = [:]
    private var named: [String: StreamID] = [:]
    private var told: [String: PlayState] = [:]

    /// - Parameter names: streams that are wanted, or not wanted, before there is a room.
    init(names: [String: Bool] = [:]) {
        self.names = names
        for name in names.keys { told[name] = state(of: name) }
    }

    // MARK: What the app wants

    /// Wants a stream, or does not want it. False where too many have been named.
    mutating func want(_ isWanted: Bool, _ name: String, _ orders: inout [Order]) -> Bool {
        guard names[name] != nil || names.count < Self.nameLimit else { return false }
        names[name] = isWanted
        if let stream = named[name] { settle(stream, asksAgain: true, &orders) }
        tell(name, &orders)
        return true
    }

    /// Wants what a participant publishes, or does not want it, where nothing else was said of a stream's name.
    mutating func want(_ isWanted: Bool, _ participant: ParticipantID, _ orders: inout [Order]) {
        participants[participant] = isWanted
        for stream in streams.keys.sorted() where streams[stream]?.publisher == participant {
            settle(stream, asksAgain: true, &orders)
        }
    }

    /// How the streams stand that the app has named.
    var states: [String: PlayState] { told }

    // MARK: What the room has

    /// The engine is in the room, anew or back in it; what it has follows by `appear`.
    ///
    /// - Parameter isSameStay: whether subscriptions are as they were.
    mutating func enter(takesAll: Bool, isSameStay: Bool, _ orders: inout [Order]) {
        self.takesAll = takesAll
        (isInRoom, isAway) = (true, false)
        for stream in streams.keys.sorted() {
            if isSameStay { repeatRequest(stream, &orders) } else { beginAgain(stream, &orders) }
        }
        tellAll(&orders)
    }

    /// A stream of another is there.
    ///
    /// - Parameter isNew: whether it is published just now: of what it was before, the room keeps no subscription.
    mutating func appear(
        _ stream: StreamID, name: String, of publisher: ParticipantID, isNew: Bool, _ orders: inout [Order]
    ) {
        if let entry = streams[stream], entry.name == name, entry.publisher == publisher {
            guard isNew else { return }
            beginAgain(stream, &orders)
            return tell(name, &orders)
        }
        if streams[stream] != nil { disappear(stream, &orders) }
        streams[stream] = Entry(publisher: publisher, name: name)
        if !name.isEmpty { named[name] = stream }
        begin(stream, &orders)
        tell(name, &orders)
    }

    /// A stream is gone.
    mutating func disappear(_ stream: StreamID, _ orders: inout [Order]) {
        guard let entry = streams.removeValue(forKey: stream) else { return }
        if named[entry.name] == stream { named[entry.name] = nil }
        if entry.standing == .heard { orders.append(.end(stream)) }
        tell(entry.name, &orders)
    }

    /// A participant is gone, whose streams are so already.
    mutating func forget(_ participant: ParticipantID) { participants[participant] = nil }

    /// The room has granted a request.
    mutating func confirm(_ stream: StreamID, isSubscribed: Bool, _ orders: inout [Order]) {
        // What does not fit was overtaken by a later request, whose answer follows; or asked of the stream before that
        // had the number.
        guard let entry = streams[stream] else { return }
        if !isSubscribed, entry.standing == .heard { orders.append(.subscribe(stream)) }
        if isSubscribed, entry.standing == .ignored, !entry.isDeclined { decline(stream, &orders) }
        guard isSubscribed, entry.standing == .asked else { return }
        streams[stream]?.standing = .heard
        orders.append(.begin(stream))
        tell(entry.name, &orders)
    }

    /// The room has refused a request to hear a stream, or it could not be sent. Whether that is news: not where the
    /// stream has gone that was asked for once more.
    @discardableResult
    mutating func refuse(_ stream: StreamID, _ refusal: RoomRefusal, _ orders: inout [Order]) -> Bool {
        guard let entry = streams[stream], entry.standing == .asked else { return refusal != .unknownStream }
        streams[stream]?.standing = .refused(refusal)
        tell(entry.name, &orders)
        return true
    }

    /// The room does not answer.
    mutating func lose(_ orders: inout [Order]) {
        isAway = true
        tellAll(&orders)
    }

    /// The engine is out of the room.
    mutating func leave(_ orders: inout [Order]) {
        (isInRoom, isAway) = (false, false)
        for stream in streams.keys.sorted() { disappear(stream, &orders) }
        participants = [:]
        tellAll(&orders)
    }

    // MARK: Deciding

    private func isWanted(_ entry: Entry) -> Bool {
        names[entry.name].flatMap { entry.name.isEmpty ? nil : $0 } ?? participants[entry.publisher] ?? takesAll
    }

    /// A stream of which nothing has been asked in this stay.
    private mutating func begin(_ stream: StreamID, _ orders: inout [Order]) {
        guard let entry = streams[stream] else { return }
        switch (isWanted(entry), takesAll) {
        case (true, true):
            streams[stream]?.standing = .heard
            orders.append(.begin(stream))
        case (true, false): ask(stream, &orders)
        case (false, true): decline(stream, &orders)
        case (false, false): break
        }
    }

    /// The same of one that was there before.
    private mutating func beginAgain(_ stream: StreamID, _ orders: inout [Order]) {
        if streams[stream]?.standing == .heard, !takesAll { orders.append(.end(stream)) }
        streams[stream]?.standing = .ignored
        streams[stream]?.isDeclined = false
        begin(stream, &orders)
    }

    /// Asks for a stream as before the break, in which it may have been published anew.
    private mutating func repeatRequest(_ stream: StreamID, _ orders: inout [Order]) {
        guard let entry = streams[stream] else { return }
        switch entry.standing {
        case .asked, .heard: if !takesAll { orders.append(.subscribe(stream)) }
        case .ignored: if takesAll { orders.append(.unsubscribe(stream)) }
        case .refused: break
        }
    }

    private mutating func decline(_ stream: StreamID, _ orders: inout [Order]) {
        streams[stream]?.isDeclined = true
        orders.append(.unsubscribe(stream))
    }

    private mutating func ask(_ stream: StreamID, _ orders: inout [Order]) {
        streams[stream]?.standing = .asked
        streams[stream]?.isDeclined = false
        orders.append(.subscribe(stream))
    }

    private mutating func settle(_ stream: StreamID, asksAgain: Bool, _ orders: inout [Order]) {
        guard let entry = streams[stream] else { return }
        switch (isWanted(entry), entry.standing) {
        case (true, .ignored): ask(stream, &orders)
        case (true, .refused) where asksAgain: ask(stream, &orders)
        case (false, .asked), (false, .heard):
            streams[stream]?.standing = .ignored
            if entry.standing == .heard { orders.append(.end(stream)) }
            decline(stream, &orders)
        case (false, .refused): streams[stream]?.standing = .ignored
        case (true, _), (false, .ignored): break
        }
    }

    private func state(of name: String) -> PlayState {
        guard names[name] == true else { return .stopped(.asked) }
        guard isInRoom else { return .waiting(.outsideRoom) }
        guard !isAway else { return .waiting(.connectionLost) }
        guard let stream = named[name], let entry = streams[stream] else { return .waiting(.notPublished) }
        return switch entry.standing {
        case .heard: .playing
        case .asked, .ignored: .requesting
        case .refused(let refusal): .stopped(.refused(refusal))
        }
    }

    private mutating func tell(_ name: String, _ orders: inout [Order]) {
        guard names[name] != nil else { return }
        let state = state(of: name)
        guard told.updateValue(state, forKey: name) != state else { return }
        orders.append(.tell(name, state))
    }

    private mutating func tellAll(_ orders: inout [Order]) {
        for name in names.keys.sorted() { tell(name, &orders) }
    }
}
