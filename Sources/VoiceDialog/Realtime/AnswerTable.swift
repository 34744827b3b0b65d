/// The answers that are asked for, under way, or not yet told as heard, by the responses that they consist of.
///
/// A response belongs to one answer for good, and an answer that is over hands nothing out. So nothing of what was
/// cancelled is ever delivered, in whatever order messages come.
struct AnswerTable: Sendable {
    /// Responses of a connection; behind them another is made, as names are kept for as long as it lasts.
    static let maximumResponses = 10_000
    /// Answers at once; of more the oldest are forgotten, those first that are not wanted any more.
    static let maximumAnswers = 32

    private(set) var answers: [AnswerID: DialogAnswer] = [:]
    private var owners: [String: AnswerID] = [:]
    private var seen: Set<String> = []
    private var last = 0

    /// How much sound waits in all, samples.
    var waitingSamples: Int { answers.values.reduce(0) { $0 + $1.backlog.count } }

    /// Whether a response was created on this connection.
    func isKnown(_ response: String) -> Bool { seen.contains(response) }

    func owner(of response: String) -> AnswerID? { owners[response] }

    subscript(_ id: AnswerID) -> DialogAnswer? { answers[id] }

    mutating func update<Outcome>(_ id: AnswerID, _ body: (inout DialogAnswer) -> Outcome) -> Outcome? {
        guard var answer = answers.removeValue(forKey: id) else { return nil }
        let outcome = body(&answer)
        answers[id] = answer
        return outcome
    }

    mutating func begin() -> AnswerID {
        last += 1
        let id = AnswerID(rawValue: last)
        if answers.count == Self.maximumAnswers { forgetOne() }
        answers[id] = DialogAnswer(id)
        return id
    }

    private mutating func forgetOne() {
        // One that is still to be created is to be known as unwanted then.
        let unwanted = answers.values.filter { $0.isOver && !$0.isAwaited }.map(\.id).min()
        if let oldest = unwanted ?? answers.keys.min() { remove(oldest) }
    }

    /// Whose response this is: of the answer that its tag names, else of the one that has waited longest; nil where
    /// nobody asked.
    func asker(tag: String?) -> AnswerID? {
        if let tag {
            let id = Int(tag).map(AnswerID.init)
            return id.flatMap { answers[$0]?.isAwaited == true ? $0 : nil }
        }
        return answers.values.filter(\.isAwaited).map(\.id).min()
    }

    /// Whether the connection has had all its responses.
    var isFull: Bool { seen.count >= Self.maximumResponses }

    mutating func add(_ response: String, to id: AnswerID) {
        seen.insert(response)
        owners[response] = id
        _ = update(id) {
            $0.progress = .responding(response)
            $0.question = []
        }
    }

    mutating func remove(_ id: AnswerID) {
        guard answers.removeValue(forKey: id) != nil else { return }
        owners = owners.filter { $0.value != id }
    }

    /// The connection is gone, and what was known by its names.
    mutating func disconnect() {
        owners = [:]
        seen = []
    }
}
