/// The reader's end of one text stream.
struct TextReader: Sendable {
    /// What came of a frame.
    enum Outcome: Equatable {
        /// It came late, or twice.
        case ignored
        /// More is to come.
        case underWay
        /// The text is complete, and as it was, or another.
        case unchanged, changed
        case missedSomething
    }

    private var round: UInt32 = 0
    private var sequence: UInt32 = 0
    private var bytes: [UInt8] = []
    private var check = PrefixCheck()
    /// The last complete state.
    private(set) var update: TextUpdate?

    /// A frame that repeats, or comes late, changes nothing; one that does not fit what was read before is told, and
    /// all after it, until the text comes whole. Costs what the frame holds and 1 kB; a complete one a copy of the text
    /// besides.
    mutating func handle(_ frame: TextFrame) -> Outcome {
        guard frame.round > round || frame.round == round && frame.sequence > sequence else { return .ignored }
        if frame.round > round {
            bytes = []
            check = PrefixCheck()
        }
        (round, sequence) = (frame.round, frame.sequence)
        guard frame.keep <= bytes.count else { return .missedSomething }
        bytes.replaceSubrange(frame.keep..., with: frame.bytes)
        check.update(bytes, from: frame.keep)
        guard let completion = frame.completion else { return .underWay }
        guard completion.check == check.value, let text = String(validating: bytes, as: UTF8.self),
            let extras = String(validating: completion.extras, as: UTF8.self)
        else { return .missedSomething }
        let new = TextUpdate(
            stream: String(decoding: frame.name, as: UTF8.self), round: round, text: text, isFinal: completion.isFinal,
            extras: extras)
        if let update, new.isIdentical(to: update) { return .unchanged }
        update = new
        return .changed
    }
}

extension TextUpdate {
    /// Whether all is the same to the byte. `==` takes texts for equal that are canonically equivalent, and normalises
    /// them for that: of a long text of combining marks far more work than the frame that changed its end.
    fileprivate func isIdentical(to other: TextUpdate) -> Bool {
        round == other.round && isFinal == other.isFinal && text.utf8.elementsEqual(other.text.utf8)
            && extras.utf8.elementsEqual(other.extras.utf8)
    }
}
