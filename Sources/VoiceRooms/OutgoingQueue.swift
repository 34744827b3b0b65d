internal import VoicePeers
internal import VoiceQueue

/// Messages of one connection that have not been sent yet.
///
///     news of the room ----> one place for each participant, stream, interruption and generation; a newer one takes it ----+--> carrier
///     what participants write ----> one by one, so many for each of them, behind all news -------------------+
///     what they have heard ----> the latest of each listener and stream, behind everything else -------------+
///
/// Of a state only the latest counts: so the news that wait are never more than there is to know about a room, whatever
/// its members do and however slow the receiver is. What somebody writes fills that sender's own share of the queue.
struct OutgoingQueue: Sendable {
    /// Messages of one sender that wait for one receiver; more are refused to the sender.
    static let messagesPerSender = 64
    /// Messages of all senders that wait for one receiver; more are refused to their senders. Nobody has more of them
    /// waiting than there is room left (dynamic thresholds, Choudhury and Hahne 1998): however many write all that they
    /// may, whoever has fewer waiting comes next.
    static let messageLimit = 288
    /// Refusals that wait for whoever asked; more are dropped.
    static let refusalLimit = 64
    /// All news that can wait: a stream message, an interruption, a beginning and a subscription for each stream that a
    /// full room has, an arrival or a departure, attributes and a role for each participant, the refusals, what became
    /// of a token, and the arrivals and departures of those who have gone and whose messages wait.
    static let newsLimit =
        RoomProtocol.participantLimit * (4 * RoomProtocol.streamLimit + 4) + refusalLimit + 1 + 2 * messageLimit

    /// Listeners and streams of which a report can wait: as many as hear one talker, each of its streams. More are
    /// dropped.
    static let reportLimit = RoomProtocol.participantLimit * RoomProtocol.streamLimit

    /// Who has heard which stream; nobody where it is one's own report.
    private struct Hearing: Hashable {
        var listener: ParticipantID?
        var stream: StreamID
    }

    private enum Subject: Hashable {
        case participant(ParticipantID)
        case stream(StreamID)
        case interruption(StreamID)
        case generation(StreamID)
        case subscription(StreamID)
        /// Of a participant; nobody's where they are one's own.
        case attributes(ParticipantID?)
        case role(ParticipantID?)
        case token
    }

    /// News in order; nil where one was withdrawn.
    private var news: [(subject: Subject?, message: RoomMessage)?] = []
    private var newsTaken = 0
    private var newsLeft = 0
    /// Where in `news` each subject's latest stand.
    private var places: [Subject: Int] = [:]
    private var letters = FIFOQueue<RoomMessage>()
    private var lettersOf: [ParticipantID: Int] = [:]
    /// Those in `news`, of participants who have gone; they count towards ``messageLimit``.
    private var lastLetters = 0
    private var refusals = 0
    private var reports: [Hearing: RoomMessage] = [:]
    /// The keys of `reports`, in order.
    private var hearings = FIFOQueue<Hearing>()

    var count: Int { newsLeft + letters.count + hearings.count }
    var isEmpty: Bool { count == 0 }
    /// Messages of this end's application.
    var applicationMessages: Int { news.count { $0?.message.isOfApplication == true } }

    // MARK: In

    /// Takes a message; false when its sender's share is full.
    mutating func append(_ message: RoomMessage) -> Bool {
        switch message {
        case .message(let sender, _, _, _):
            let share = min(Self.messagesPerSender, Self.messageLimit - letters.count - lastLetters)
            guard lettersOf[sender, default: 0] < share else { return false }
            lettersOf[sender, default: 0] += 1
            letters.append(message)
        case .requestRefused:
            guard refusals < Self.refusalLimit else { return false }
            refusals += 1
            push(nil, message)
        case .participantJoined(let entry): put(.participant(entry.participant), message)
        case .published(_, let stream): put(.stream(stream.assignment.stream), message)
        case .unpublished(_, let stream): put(.stream(stream), message)
        case .muteChanged(let stream, let mute): putMute(mute, of: stream)
        case .interrupted(_, let stream, _): put(.interruption(stream), message)
        case .generationStarted(_, let start): put(.generation(start.stream), message)
        case .tellHeard(let report): put(Hearing(listener: nil, stream: report.stream), message)
        case .heard(let listener, let report): put(Hearing(listener: listener, stream: report.stream), message)
        case .subscribe(let stream), .unsubscribe(let stream), .subscriptionChanged(let stream, _):
            put(.subscription(stream), message)
        case .attributesChanged(let participant, _): put(.attributes(participant), message)
        case .roleChanged(let participant, _): put(.role(participant), message)
        case .setAttributes: put(.attributes(nil), message)
        case .setRole: put(.role(nil), message)
        case .renewed: put(.token, message)
        default: push(nil, message)
        }
        return true
    }

    /// Takes the news that a participant has gone, with its streams. Of one of whom nothing has been told yet, nothing
    /// is.
    mutating func append(departureOf participant: ParticipantID, _ reason: LeaveReason, streams: [StreamID]) {
        for stream in streams {
            withdraw(.stream(stream))
            withdraw(.interruption(stream))
            withdraw(.generation(stream))
            withdraw(.subscription(stream))
        }
        withdraw(.attributes(participant))
        withdraw(.role(participant))
        for hearing in hearings.takeAll(where: { $0.listener == participant }) { reports[hearing] = nil }
        if lettersOf[participant] == nil {
            if withdraw(.participant(participant)) { return }
        } else {
            // What it wrote is read before it has gone.
            lettersOf[participant] = nil
            let last = letters.takeAll { if case .message(participant, _, _, _) = $0 { true } else { false } }
            for letter in last { push(nil, letter) }
            lastLetters += last.count
        }
        // Its arrival, if that still waits, keeps its place before what it wrote.
        places[.participant(participant)] = nil
        push(.participant(participant), .participantLeft(participant, reason))
    }

    private mutating func putMute(_ mute: MuteState, of stream: StreamID) {
        if let place = places[.stream(stream)], case .published(let publisher, var published)? = news[place]?.message {
            published.mute = mute
            news[place]?.message = .published(publisher, published)
        } else {
            put(.stream(stream), .muteChanged(stream, mute))
        }
    }

    private mutating func put(_ subject: Subject, _ message: RoomMessage) {
        if let place = places[subject] {
            news[place]?.message = message
        } else {
            push(subject, message)
        }
    }

    private mutating func put(_ hearing: Hearing, _ report: RoomMessage) {
        if reports[hearing] == nil {
            guard hearings.count < Self.reportLimit else { return }
            hearings.append(hearing)
        }
        reports[hearing] = report
    }

    private mutating func push(_ subject: Subject?, _ message: RoomMessage) {
        if let subject { places[subject] = news.count }
        news.append((subject, message))
        newsLeft += 1
    }

    @discardableResult
    private mutating func withdraw(_ subject: Subject) -> Bool {
        guard let place = places.removeValue(forKey: subject) else { return false }
        news[place] = nil
        newsLeft -= 1
        compact()
        return true
    }

    // MARK: Out

    /// The next message: news, then letters, then what was heard.
    mutating func popFirst() -> RoomMessage? {
        while newsLeft > 0 {
            let place = newsTaken
            newsTaken += 1
            guard let (subject, message) = news[place] else { continue }
            if let subject, places[subject] == place { places[subject] = nil }
            switch message {
            case .requestRefused: refusals -= 1
            case .message: lastLetters -= 1
            default: break
            }
            news[place] = nil
            newsLeft -= 1
            compact()
            return message
        }
        return popLetter() ?? hearings.popFirst().flatMap { reports.removeValue(forKey: $0) }
    }

    private mutating func popLetter() -> RoomMessage? {
        let letter = letters.popFirst()
        if case .message(let sender, _, _, _)? = letter, let count = lettersOf[sender] {
            lettersOf[sender] = count > 1 ? count - 1 : nil
        }
        return letter
    }

    /// Forgets what a whole roster tells. What was heard is kept.
    mutating func keepDurable() {
        for place in news.indices where news[place]?.message.isDurable == false {
            if let subject = news[place]?.subject, places[subject] == place { places[subject] = nil }
            news[place] = nil
            newsLeft -= 1
        }
        compact()
    }

    /// Gives the places of what was taken or withdrawn back, when they are most.
    private mutating func compact() {
        guard news.count >= 64, newsLeft * 2 < news.count else { return }
        let last = news
        places = [:]
        newsTaken = 0
        news = []
        for case let entry? in last {
            // A departure that follows its arrival holds the place of the two.
            if let subject = entry.subject { places[subject] = news.count }
            news.append(entry)
        }
    }
}
