public import VoiceEngine

/// Somebody to talk with: listens and answers in a conversation of the engine.
///
///     let conversation = try await engine.converse()
///     try await partner.converse(in: conversation) { event in print(event) }
public protocol Partner: Sendable {
    /// Makes ready what takes long, as loading a model; to be called once, before there is a conversation.
    ///
    /// - Throws: what is in the way of every talk, as a library that is not installed.
    func prepare() async throws(PartnerError)

    /// Listens and answers until the conversation ends or the task is cancelled. It is the one listener of the
    /// conversation's events, and of its near end.
    ///
    /// - Parameters:
    ///   - conversation: with the near talker.
    ///   - tell: called with what happens, in order, from any thread; must not block.
    /// - Throws: what ends the talk. What concerns one turn is told by ``PartnerEvent/failed(_:_:)``, and the talk goes
    ///   on.
    func converse(
        in conversation: Conversation, tell: @escaping @Sendable (PartnerEvent) -> Void
    ) async throws(PartnerError)
}

extension Partner {
    /// Has nothing to make ready.
    public func prepare() async throws(PartnerError) {}
}

/// What happens in a talk with a ``Partner``.
public enum PartnerEvent: Equatable, Sendable {
    /// The partner listens from now on: once at the beginning, and after each break.
    case ready
    /// What the conversation told; passed on before the partner acts on it.
    case turn(TurnEvent)
    /// What the near talker said in a turn; may change unless it is final. Empty and final: nothing was understood.
    case recognised(TurnID, String, isFinal: Bool)
    /// Words of the answer to a turn that have left the DAC since the last caption.
    case caption(TurnID, String)
    /// The answer to a turn is over, of which some text was spoken.
    case answered(TurnID, SpokenText)
    /// Something of a turn, or of none, failed; the talk goes on.
    case failed(TurnID?, PartnerError)
}

extension Conversation {
    /// Has the conversation's history know the words that a partner tells of.
    package func remember(_ event: PartnerEvent) {
        switch event {
        case .recognised(let turn, let text, isFinal: true): recognised(text, in: turn)
        case .answered(let turn, let text): answered(text.said, heard: text.heard, in: turn)
        default: break
        }
    }
}

/// An answer as text, and how far it was heard.
public struct SpokenText: Equatable, Sendable {
    /// All of it that was to be spoken, as far as it is known.
    public var said: String
    /// As much of it as was heard, to the word.
    public var heard: String
    /// Why it ended.
    public var end: AnswerEnd

    /// An answer of which `heard` was heard.
    public init(said: String, heard: String, end: AnswerEnd) {
        self.said = said
        self.heard = heard
        self.end = end
    }

    /// Whether somebody cut it before its end.
    public var isCut: Bool { end != .complete && heard.count < said.count }

    /// What was not heard of it.
    public var unheard: String { String(said.dropFirst(heard.count)).trimmed }
}

extension String {
    /// Its first so many Unicode scalars: a character has no longest length.
    func clipped(to length: Int) -> String { String(String.UnicodeScalarView(unicodeScalars.prefix(length))) }

    /// Without spaces at either end.
    var trimmed: String {
        var part = self[...]
        while part.first?.isWhitespace == true { part.removeFirst() }
        while part.last?.isWhitespace == true { part.removeLast() }
        return String(part)
    }
}
