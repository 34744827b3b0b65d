public import VoiceRooms
public import VoiceText
public import VoiceTurns

/// What is said in an utterance, and how far it was heard.
public struct Caption: Equatable, Sendable {
    /// Which utterance.
    public var utterance: UtteranceID
    /// As much of the text as was heard, to the word.
    public var heard: String
    /// All of the text that is known.
    public var text: String
    /// Whether nothing more of it will be heard.
    public var isFinal: Bool

    /// This caption.
    package init(utterance: UtteranceID, heard: String, text: String, isFinal: Bool) {
        self.utterance = utterance
        self.heard = heard
        self.text = text
        self.isFinal = isFinal
    }

    /// Whether somebody cut it before its end.
    public var isCut: Bool { isFinal && heard != text }
}

/// A caption of a talker in the room.
public struct RoomCaption: Equatable, Sendable {
    /// Whose words they are.
    public var talker: ParticipantID
    /// The words.
    public var caption: Caption
}

/// Captions of the talkers in a room: joins what they say is said with what was heard of it here.
///
///     EngineEvent.text (a CaptionTrack) ─┐
///                                        ├─► caption
///     EngineEvent.utteranceHeard ────────┘
///
/// Pure. It keeps the last four utterances of each talker, as long as that is in the room.
public struct CaptionFollower: Sendable {
    private struct Utterance: Sendable {
        var track: CaptionTrack
        /// Whether its text will not grow.
        var isWhole = false
        var heard = Duration.zero
        var isOver = false
        var told: Caption?

        init(_ number: UInt32) { track = CaptionTrack(utterance: number) }
    }

    private static let kept = 4
    /// Talkers at most.
    private static let talkerLimit = RoomProtocol.participantLimit
    private var talkers: [ParticipantID: [Utterance]] = [:]

    /// One that knows of nobody.
    public init() {}

    /// Takes an event; returns the caption that it changes.
    public mutating func handle(_ event: EngineEvent) -> RoomCaption? {
        switch event {
        case .text(let talker, let update) where update.stream == CaptionTrack.stream:
            guard let track = CaptionTrack(encoded: update.text) else { return nil }
            return change(track.utterance, of: talker) { utterance in
                utterance.track = track
                utterance.isWhole = update.isFinal
            }
        case .utteranceHeard(let talker, let news, _):
            return change(news.utterance.rawValue, of: talker) { utterance in
                utterance.heard = max(utterance.heard, news.heard)
                utterance.isOver = utterance.isOver || news.isFinal
            }
        case .participantLeft(let talker, _): talkers[talker] = nil
        case .left: talkers = [:]
        default: break
        }
        return nil
    }

    private mutating func change(
        _ number: UInt32, of talker: ParticipantID, _ body: (inout Utterance) -> Void
    ) -> RoomCaption? {
        var utterances = talkers[talker] ?? []
        let place = utterances.firstIndex { $0.track.utterance == number } ?? utterances.count
        if place == utterances.count { utterances.append(Utterance(number)) }
        body(&utterances[place])
        let caption = Self.caption(utterances[place])
        let isNews = caption != utterances[place].told && !caption.text.isEmpty
        if isNews { utterances[place].told = caption }
        if utterances.count > Self.kept { utterances.removeFirst() }
        // What was heard of a talker may be told once more when that one has left. Numbers rise.
        if talkers[talker] == nil, talkers.count == Self.talkerLimit { talkers[talkers.keys.min() ?? talker] = nil }
        talkers[talker] = utterances
        return isNews ? RoomCaption(talker: talker, caption: caption) : nil
    }

    private static func caption(_ utterance: Utterance) -> Caption {
        let track = utterance.track
        let isAtEnd = utterance.isWhole && track.end.map { utterance.heard >= $0 } == true
        return Caption(
            utterance: UtteranceID(rawValue: track.utterance), heard: track.text(heard: utterance.heard),
            text: track.text, isFinal: utterance.isOver || isAtEnd)
    }
}

extension VoiceEngine {
    /// Has everybody in the room know the words of an utterance that this engine says (``beginUtterance(_:)``), and
    /// where in its sound they lie, so that their captions follow what they hear; again when there are more of them.
    /// Travels as the text stream ``CaptionTrack/stream``.
    ///
    /// - Parameters:
    ///   - track: the words so far, from the utterance's beginning.
    ///   - isWhole: whether these are all its words. The next track is the next utterance's then.
    /// - Throws: as ``setText(_:to:isFinal:extras:)``.
    public func setCaptions(_ track: CaptionTrack, isWhole: Bool = false) throws(EngineError) {
        try setText(CaptionTrack.stream, to: track.encoded, isFinal: isWhole)
    }

    /// What the talkers in the room say, as far as it is heard here, for those that send captions
    /// (``setCaptions(_:isWhole:)``); for one listener, from now on.
    public nonisolated var captions: CaptionStream { CaptionStream(events: events) }
}

/// Captions of a room as they change: when words become known, and four times a second while they are heard. Ends when
/// the engine is gone.
public struct CaptionStream: AsyncSequence, Sendable {
    let events: EventStream

    /// Iterates over the captions.
    public func makeAsyncIterator() -> Iterator { Iterator(events: events.makeAsyncIterator()) }

    /// Gives the captions one by one, to one task.
    public struct Iterator: AsyncIteratorProtocol {
        var events: EventStream.Iterator
        var follower = CaptionFollower()

        /// The next caption; nil when the engine is gone.
        public mutating func next() async -> RoomCaption? {
            while let event = await events.next() {
                if let caption = follower.handle(event) { return caption }
            }
            return nil
        }
    }
}
