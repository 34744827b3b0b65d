import TestCases
import VoicePeers
import VoiceRooms

@testable import VoiceEngine

/// A member of a simulated room: what an app asks of its engine, on the control thread, and what its session does, on
/// the network thread. Between the two everything waits for the other thread to come to it.
final class PresenceMember {
    /// What the app has asked for last.
    struct Requested {
        var role = RoomRole.talker
        /// The microphone's name; nil where it is not to be published.
        var name: String? = ""
        var isMuted = false
        var attributes = ParticipantAttributes()
        /// Names of the streams that the app feeds, by their line.
        var lines: [UInt64: String] = [:]
        /// Streams of others that are to be heard, or not, by name.
        var played: [String: Bool] = [:]
    }

    /// What a line is sent as: by which source, and how it was to be called when that began.
    struct Sending: Equatable {
        var source: UInt32
        var name: String
    }

    var requested: Requested
    private(set) var media: RoomMedia
    var guest: RoomGuest<Plaintext>
    var address: EndpointAddress
    /// What the media thread sends, by line; 0 is the microphone.
    private(set) var sent: [UInt64: Sending] = [:]
    /// Requests that came to nothing since the app has asked for one of that kind.
    private(set) var disappointed: Set<RoomRequest> = []
    /// So many of the next requests are not taken: by the queue to the network thread, or on it by the session's.
    var lostRequests = 0
    var losesInSession = false
    /// Events that wait for the control thread; of more it is told that they were lost.
    var eventLimit = 1024
    private var lostEvents = 0
    /// What went wrong: sound that nobody wanted to be heard.
    var faults: [String] = []
    private(set) var isIn = false
    let takesAll: Bool

    /// What the network thread is given for the next join, and what it has.
    private var entrance: RoomEntrance
    private var handed: [(due: Duration, RoomEntrance)] = []
    private var asked: [(due: Duration, RoomMessage, stay: RejoinSecret?)] = []
    private var told: [(due: Duration, News)] = []

    private enum News {
        case event(RoomSessionEvent)
        case failure(RoomMessage)
        case losses(JoinGrant, RoomRoster)
    }
    private var random: SeededNumbers

    init(
        _ token: String, number: Int, role: RoomRole, takesAll: Bool, requested: Requested, seed: UInt64, now: Duration
    ) throws {
        random = SeededNumbers(seed: seed)
        self.takesAll = takesAll
        self.requested = requested
        self.requested.role = role
        var requests = StreamRequests()
        requests.presence.role = role
        requests.presence.microphone = requested.name
        requests.presence.isMuted = requested.isMuted
        requests.presence.interruptibleBy = .anyone
        requests.presence.outgoing = requested.lines
        requests.presence.attributes = requested.attributes
        requests.played = requested.played
        media = RoomMedia(randomStart: random.next(), requests: requests)
        entrance = media.entrance
        var session = try RoomSession(
            token: Array(token.utf8), capabilities: takesAll ? .conversation : .byChoice, role: role,
            publishing: entrance.publishing)
        try session.join(now: now)
        address = EndpointAddress(high: 0, low: UInt64(0x100 + number), port: 40_000)
        let key = CookieKey(high: random.next(), low: random.next())
        guest = RoomGuest(
            session: session, server: PresenceRoom.server, security: Plaintext(key: key), cookieKey: key)
    }

    /// Whether it wants to be heard by nobody.
    var isListener: Bool { requested.role == .listener }

    // MARK: What the app asks for

    func setRole(_ role: RoomRole, now: Duration) {
        requested.role = role
        ask(media.setRole(role), .setRole, now: now)
    }

    func publish(as name: String?, now: Duration) {
        requested.name = name
        ask(media.publish(as: name), .publish, now: now)
    }

    func publish(line: UInt64, as name: String, now: Duration) {
        requested.lines[line] = name
        ask(media.publish(line: line, as: name), .publish, now: now)
    }

    func unpublish(line: UInt64, now: Duration) {
        requested.lines[line] = nil
        ask(media.unpublish(line: line), .unpublish, now: now)
    }

    func setMuted(_ isMuted: Bool, now: Duration) {
        requested.isMuted = isMuted
        ask(media.setMuted(isMuted), .setMuted, now: now)
    }

    func setAttributes(_ attributes: ParticipantAttributes, now: Duration) {
        requested.attributes = attributes
        ask(media.setAttributes(attributes), .setAttributes, now: now)
    }

    func play(_ isWanted: Bool, _ name: String, now: Duration) {
        requested.played[name] = isWanted
        ask(media.play(isWanted, name) ?? [], .subscribe, now: now)
    }

    private func ask(_ actions: [RoomMedia.Action], _ request: RoomRequest, now: Duration) {
        if request == .setRole { disappointed.remove(request) }
        carryOut(actions, now: now)
    }

    // MARK: The control thread

    private func carryOut(_ actions: [RoomMedia.Action], now: Duration) {
        var unasked: [RoomMessage] = []
        for action in actions {
            switch action {
            case .ask(let request):
                if lostRequests > 0, !losesInSession {
                    lostRequests -= 1
                    unasked.append(request)
                } else {
                    asked.append((max(now + hop(), asked.last?.due ?? now), request, media.grant?.secret))
                }
            case .command(let command): obey(command, now: now)
            case .post(.requestRefused(let request, _)):
                disappointed.insert(request)
            case .post: break
            }
        }
        if media.entrance != entrance {
            entrance = media.entrance
            handed.append((max(now + hop(), handed.last?.due ?? now), entrance))
        }
        for request in unasked { fail(request, now: now) }
    }

    private func fail(_ message: RoomMessage, now: Duration) {
        guard let request = message.request else { return }
        // All else is tried again.
        if message == .setRole(.talker) || [.subscribe, .unsubscribe].contains(request) {
            disappointed.insert(request)
        }
        carryOut(media.requestFailed(request, subject: message.subject), now: now)
    }

    private func obey(_ command: MediaCommand, now: Duration) {
        switch command {
        case .publish(let start):
            let name = start.line == 0 ? requested.name : requested.lines[start.line]
            sent[start.line] = Sending(source: start.synchronizationSource, name: name ?? "")
            if name == nil || isListener { faults.append("\(now) begins to send \(start.line)") }
        case .report, .stopPublishing:
            sent[0] = nil
        case .stopStream(let line):
            sent[line] = nil
        default: break
        }
    }

    private func handle(_ event: RoomSessionEvent, now: Duration) {
        // Then all that is not as it should be is asked for; a role that was refused is given up.
        if case .reconnected = event { disappointed.formIntersection([.setRole]) }
        if case .joined = event { isIn = true }
        if case .ended = event { isIn = false }
        carryOut(media.handle(event), now: now)
    }

    private func handle(_ news: News, now: Duration) {
        switch news {
        case .event(let event): handle(event, now: now)
        case .failure(let request): fail(request, now: now)
        case .losses(let grant, let roster): carryOut(media.catchUp(grant, roster), now: now)
        }
    }

    /// Hands an event over, or loses it, though never one that begins or ends the stay.
    private func tell(_ news: News, now: Duration) {
        var isVital = false
        if case .event(.joined) = news { isVital = true }
        if case .event(.ended) = news { isVital = true }
        guard isVital || told.count < eventLimit else { return lostEvents += 1 }
        told.append((max(now + hop(), told.last?.due ?? now), news))
    }

    // MARK: Both threads

    /// How long it takes until the other thread sees it: a moment, or a little more where the machine is busy.
    private func hop() -> Duration {
        random.chance(0.3) ? .milliseconds(Int64(random.below(30))) : .microseconds(Int64(random.below(200)))
    }

    /// When something waits for one of the threads.
    var nextHop: Duration? {
        [handed.first?.due, asked.first?.due, told.first?.due, nextAsking].compactMap { $0 }.min()
    }

    private var nextAsking: Duration?

    func runThreads(now: Duration) {
        while let event = guest.session.pollEvent() { tell(.event(event), now: now) }
        if lostEvents > 0, told.count < eventLimit, guest.session.state == .joined, let grant = guest.session.grant {
            tell(.losses(grant, guest.session.roster), now: now)
            lostEvents = 0
        }
        while let (due, news) = told.first, due <= now {
            told.removeFirst()
            handle(news, now: now)
        }
        if isIn, !media.isAway { carryOut(media.askAgain(now: now), now: now) }
        while let (due, entrance) = handed.first, due <= now {
            handed.removeFirst()
            guest.session.rejoin(as: entrance)
        }
        while let (due, request, stay) = asked.first, due <= now {
            asked.removeFirst()
            if lostRequests > 0, losesInSession {
                lostRequests -= 1
                tell(.failure(request), now: now)
            } else {
                do { try guest.session.ask(request, in: stay) } catch { tell(.failure(request), now: now) }
            }
        }
        nextAsking = isIn && !media.isAway ? media.nextAsking(now: now) : nil
    }

    /// Whether nothing waits.
    var isQuiet: Bool { asked.isEmpty && told.isEmpty }
}
