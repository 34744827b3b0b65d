/// What became of a conversation's turns so far, the newest 256: what was said, what was answered, and how much of that
/// was heard. Keep it where you like (it is `Codable`), and go on with it after a restart.
public struct ConversationHistory: Codable, Equatable, Sendable {
    /// More turns are forgotten, the oldest first.
    public static let capacity = 256
    /// Longer texts are cut, characters.
    public static let longestText = 16_384

    /// A turn that is over, or whose answer is under way.
    public struct PastTurn: Codable, Equatable, Sendable {
        /// ``TurnID/rawValue``.
        public let turn: UInt32
        /// What the near talker said, as the app has told; nil where it has not, or where the agent began by itself.
        public fileprivate(set) var said: String?
        /// For how long the near talker spoke; nil where the agent began by itself.
        public fileprivate(set) var spokenMilliseconds: Int?
        /// What was answered; nil where nothing was, or not yet.
        public fileprivate(set) var answer: PastAnswer?
    }

    /// An answer that is over.
    public struct PastAnswer: Codable, Equatable, Sendable {
        /// All that was to be said, as the app has told; empty where it has not.
        public var text: String
        /// As much of it as was heard, to the word.
        public var heard: String
        /// How much of its sound left the DAC.
        public var heardMilliseconds: Int
        /// Why it ended.
        public var end: End

        /// This answer.
        public init(text: String, heard: String, heardMilliseconds: Int, end: End) {
            self.text = text
            self.heard = heard
            self.heardMilliseconds = heardMilliseconds
            self.end = end
        }

        /// Why an answer ended; see ``AnswerEnd``.
        public enum End: String, Codable, Sendable {
            /// As their namesakes.
            case complete, interrupted, continued, cancelled
        }
    }

    /// What the app calls the conversation.
    public let id: String
    /// The turns, the oldest first.
    public private(set) var turns: [PastTurn] = []
    /// The last turn that there was, forgotten or dropped ones too.
    public private(set) var lastTurn: UInt32 = 0
    /// Words of answers that are known before it is known how much was heard, the newest few.
    private var early: [Words] = []

    private struct Words: Sendable {
        let turn: UInt32
        let text: String
        let heard: String
    }

    private static let earlyCapacity = 16

    /// A conversation without turns.
    public init(id: String = "") { self.id = id }

    /// Whether they have the same turns under the same name: what is encoded.
    public static func == (left: ConversationHistory, right: ConversationHistory) -> Bool {
        left.id == right.id && left.turns == right.turns && left.lastTurn == right.lastTurn
    }

    // MARK: What happens

    /// Takes what a conversation tells; of an answer's end see ``answerEnded(_:_:text:heard:)``.
    package mutating func handle(_ event: TurnEvent) {
        switch event {
        case .stateChanged(_, let turn): lastTurn = max(lastTurn, turn.rawValue)
        case .turnEnded(let turn):
            if let continued = turn.continued { forget(continued) }
            change(turn.id) { $0.spokenMilliseconds = Int((turn.end - turn.start) / .milliseconds(1)) }
        default: break
        }
    }

    /// Nothing more of an answer will be heard. Of one that the near talker's going on has ended nothing is kept: their
    /// words are in the next turn.
    package mutating func answerEnded(_ turn: TurnID, _ answer: HeardAnswer, text: String, heard: String) {
        let told = early.last { $0.turn == turn.rawValue }
        early.removeAll { $0.turn == turn.rawValue }
        guard answer.reason != .continued else { return }
        let (text, heard) = text.isEmpty ? (told?.text ?? "", told?.heard ?? "") : (text, heard)
        let past = PastAnswer(
            text: Self.cut(text), heard: Self.cut(heard),
            heardMilliseconds: Int((answer.heard / .milliseconds(1)).rounded()), end: .init(answer.reason))
        change(turn) { $0.answer = past }
    }

    /// A turn was gone on with: the next one has all of its words.
    private mutating func forget(_ turn: TurnID) {
        turns.removeAll { $0.turn == turn.rawValue && $0.answer == nil }
        early.removeAll { $0.turn == turn.rawValue }
    }

    /// What the near talker said in a turn, as a recogniser has it; does nothing where the turn is not there.
    package mutating func recognised(_ text: String, in turn: TurnID) {
        guard let place = turns.lastIndex(where: { $0.turn == turn.rawValue }) else { return }
        turns[place].said = Self.cut(text)
    }

    /// What an app asked in the near talker's place; the turn is there from now on.
    package mutating func asked(_ text: String, in turn: TurnID) { change(turn) { $0.said = Self.cut(text) } }

    /// What was answered in a turn, and what was heard of it, by whoever knows the words; kept until the answer's end
    /// where that is yet to come.
    package mutating func answered(_ text: String, heard: String, in turn: TurnID) {
        guard let place = turns.lastIndex(where: { $0.turn == turn.rawValue }), turns[place].answer != nil else {
            early.removeAll { $0.turn == turn.rawValue }
            early.append(Words(turn: turn.rawValue, text: Self.cut(text), heard: Self.cut(heard)))
            if early.count > Self.earlyCapacity { early.removeFirst() }
            return
        }
        turns[place].answer?.text = Self.cut(text)
        turns[place].answer?.heard = Self.cut(heard)
    }

    private mutating func change(_ turn: TurnID, _ body: (inout PastTurn) -> Void) {
        lastTurn = max(lastTurn, turn.rawValue)
        var place = turns.lastIndex { $0.turn <= turn.rawValue }.map { $0 + 1 } ?? 0
        if place > 0, turns[place - 1].turn == turn.rawValue {
            place -= 1
        } else {
            // Older than all that is kept.
            if place == 0, turns.count == Self.capacity { return }
            turns.insert(PastTurn(turn: turn.rawValue), at: place)
        }
        body(&turns[place])
        if turns.count > Self.capacity { turns.removeFirst() }
    }

    private static func cut(_ text: String) -> String {
        text.utf8.count <= longestText ? text : String(text.unicodeScalars.prefix(longestText))
    }

    // MARK: Coding

    private enum CodingKeys: String, CodingKey { case id, turns, lastTurn }

    /// What was encoded before.
    ///
    /// - Throws: `DecodingError` where it is no history: turns out of order, too many, or texts too long.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        turns = try container.decode([PastTurn].self, forKey: .turns)
        lastTurn = try container.decode(UInt32.self, forKey: .lastTurn)
        let areInOrder = zip(turns, turns.dropFirst()).allSatisfy { $0.turn < $1.turn }
        let areShort = turns.allSatisfy { turn in
            [turn.said, turn.answer?.text, turn.answer?.heard].allSatisfy {
                ($0?.unicodeScalars.count ?? 0) <= Self.longestText
            }
        }
        // More turns than anybody takes, and as many again can follow.
        let canGoOn = lastTurn <= UInt32.max / 2 && turns.last.map { $0.turn <= lastTurn } ?? true
        guard areInOrder, areShort, turns.count <= Self.capacity, canGoOn else {
            throw DecodingError.dataCorruptedError(
                forKey: .turns, in: container, debugDescription: "turns are out of order, too many or too long")
        }
    }
}

extension ConversationHistory.PastAnswer.End {
    init(_ end: AnswerEnd) {
        switch end {
        case .complete: self = .complete
        case .interrupted: self = .interrupted
        case .continued: self = .continued
        case .cancelled: self = .cancelled
        }
    }
}
