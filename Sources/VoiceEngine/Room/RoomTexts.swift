internal import VoiceRooms
internal import VoiceText

/// The text streams of a room, written here and by others, in one stay after another.
///
///     setText, appendText ──> TextDesk ──> messages ──> room ──> messages ──> TextBoard ──> EngineEvent.text
///                                ^                                                │
///                                └───────────── requests for what was missed ─────┘
struct RoomTexts {
    /// What is to be sent to a participant, or where there is none to all.
    struct Letter {
        let kind: MessageKind
        let bytes: [UInt8]
        let destination: ParticipantID?
    }

    private var desk = TextDesk<ParticipantID>()
    private var board = TextBoard<ParticipantID>()
    /// The secret of the stay; nil before the first.
    private var stay: RejoinSecret?

    init() {}

    // MARK: In

    /// Changes a text of ours.
    mutating func change(
        _ stream: String, _ change: TextChange, isFinal: Bool, extras: String
    ) throws(TextError) {
        try desk.change(stream, change, isFinal: isFinal, extras: extras)
    }

    mutating func abandon(_ stream: String) { desk.abandon(stream) }

    /// A message of another participant; the application's is none of a text's.
    mutating func handle(_ bytes: [UInt8], _ kind: MessageKind, from sender: ParticipantID, now: Duration) {
        switch kind {
        case .application: break
        case .text: board.handle(bytes, from: sender, now: now)
        case .textRequest: desk.handle(request: bytes, from: sender)
        }
    }

    /// A message was refused, perhaps one of a text's.
    mutating func refused(_ refusal: RoomRefusal, now: Duration) {
        switch refusal {
        case .receiverBusy: desk.confirm(now: now)
        case .tooOften: desk.startAgain(now: now)
        default: break
        }
    }

    /// Who comes and goes, and what could not be sent.
    mutating func follow(_ event: EngineEvent, now: Duration) {
        switch event {
        case .participantJoined(let participant): desk.welcome(participant.id)
        case .participantLeft(let participant, _):
            desk.forget(participant)
            board.forget(participant)
        case .requestFailed(.send, .queueFull): desk.startAgain(now: now)
        default: break
        }
    }

    /// Something could not be sent.
    mutating func startAgain(now: Duration) { desk.startAgain(now: now) }

    /// This is the stay now. In another one than before whoever is in the room knows this participant no more, whatever
    /// number it has: its texts go to them whole, and theirs come whole, perhaps from others who have their numbers now.
    mutating func enter(_ stay: RejoinSecret?, now: Duration) {
        guard let stay, stay != self.stay else { return }
        if self.stay != nil {
            desk.startAgain(now: now)
            board = TextBoard()
        }
        self.stay = stay
    }

    // MARK: Out

    /// What others have written; call until nil.
    mutating func pollEvent(now: Duration) -> EngineEvent? {
        board.pollUpdate(now: now).map { .text(from: $0.writer, $0.update) }
    }

    /// What to send; call until nil.
    mutating func pollLetter(now: Duration) -> Letter? {
        if let (request, writer) = board.pollRequest(now: now) {
            return Letter(kind: .textRequest, bytes: request, destination: writer)
        }
        return desk.pollFrame(now: now).map { Letter(kind: .text, bytes: $0.frame, destination: $0.reader) }
    }

    /// When ``pollEvent(now:)`` or ``pollLetter(now:)`` has something, at the latest.
    var nextTimeout: Duration? { [desk.nextTimeout, board.nextTimeout].compactMap { $0 }.min() }
}
