internal import Glibc

/// A small responder that needs no server: the time, an echo, counting, and a story that is long enough to be
/// interrupted.
public struct DialogueCore: Responder {
    /// What a clock on the wall shows.
    public struct WallTime: Equatable, Sendable {
        /// 0 to 23.
        public var hour: Int
        /// 0 to 59.
        public var minute: Int

        /// This time.
        public init(hour: Int, minute: Int) {
            self.hour = hour
            self.minute = minute
        }
    }

    /// Counts no further.
    static let highestCount = 100

    /// What it understands, for a recogniser with a grammar (JSGF).
    public static let grammar = """
        #JSGF V1.0;
        grammar talk;
        public <line> = [please] (<say> | <count> | <story> | <time> | <go> | <where> | <greeting> | <stop>);
        <say> = say <word>+;
        <count> = count to <number>;
        <story> = tell me a story;
        <time> = what time is it | what is the time;
        <go> = go on | continue;
        <where> = where were you | where did you stop;
        <greeting> = hello | good morning | good evening | goodbye | thank you;
        <stop> = stop | be quiet;
        <word> = hello | good | morning | evening | world | friend | yes | no | please | thank | you | red | green | blue | <number>;
        <number> = one | two | three | four | five | six | seven | eight | nine | ten | twenty | thirty | fifty;
        """

    private let clock: @Sendable () -> WallTime

    /// Tells the time by `clock`, this machine's unless told otherwise.
    public init(clock: @escaping @Sendable () -> WallTime = Self.localTime) { self.clock = clock }

    /// What this machine's clock shows, where it is.
    @Sendable public static func localTime() -> WallTime {
        var now = time(nil)
        var parts = unsafe tm()
        unsafe localtime_r(&now, &parts)
        return unsafe WallTime(hour: Int(parts.tm_hour), minute: Int(parts.tm_min))
    }

    /// Answers at once; see ``Responder/respond(to:say:)``.
    public func respond(
        to dialogue: Dialogue, say: @escaping @Sendable (String) async -> Bool
    ) async throws(PartnerError) {
        _ = await say(answer(dialogue))
    }

    /// Answers at once; "use" and the name of a function has it called, without arguments, and its outcome is said.
    public func respond(
        to dialogue: Dialogue, tools: [ResponderTool], say: @escaping @Sendable (String) async -> Bool,
        call: @escaping @Sendable (ResponderCall) async -> Bool
    ) async throws(PartnerError) {
        if case .call(_, let text?)? = dialogue.lines.last {
            _ = await say("The answer is: \(text).")
        } else if let tool = tools.first(where: { Self.words(dialogue.question) == ["use"] + Self.words($0.name) }) {
            _ = await call(
                ResponderCall(id: "call_\(dialogue.lines.count)", name: tool.name, arguments: "{}"))
        } else {
            try await respond(to: dialogue, say: say)
        }
    }

    private static func words(_ text: String) -> [String] {
        text.lowercased().split { !($0.isLetter || $0.isNumber || $0 == "'") }.map(String.init)
    }

    /// The answer to the last line of a dialogue.
    func answer(_ dialogue: Dialogue) -> String {
        var words = Self.words(dialogue.question)
        if words.first == "please" { words.removeFirst() }
        switch words.joined(separator: " ") {
        case "what time is it", "what is the time", "what's the time": return "It is \(Self.spoken(clock()))."
        case "tell me a story": return Story.text
        case "go on", "continue": return goOn(dialogue)
        case "where were you", "where did you stop": return whereCut(dialogue)
        case "", "hello", "good morning", "good evening": return "Hello. What can I do for you?"
        case "goodbye": return "Goodbye."
        case "thank you": return "You are welcome."
        case "stop", "be quiet": return "All right."
        default: break
        }
        if words.first == "say", words.count > 1 { return words.dropFirst().joined(separator: " ") + "." }
        if words.starts(with: ["count", "to"]), let number = Self.number(words.dropFirst(2)) {
            return Self.count(to: number)
        }
        let heard = words.prefix(12).joined(separator: " ")
        return "I heard: \(heard). I can tell the time or a story, count, and say what you say."
    }

    private func goOn(_ dialogue: Dialogue) -> String {
        guard let cut = dialogue.lastCutAnswer, !cut.unheard.isEmpty else {
            return "There is nothing that I did not finish."
        }
        return cut.unheard
    }

    private func whereCut(_ dialogue: Dialogue) -> String {
        guard let cut = dialogue.lastCutAnswer else { return "Nobody interrupted me." }
        let last = cut.heard.split(separator: " ").suffix(6).joined(separator: " ")
        return last.isEmpty ? "You had heard nothing yet." : "You had heard me as far as: \(last)."
    }

    // MARK: Numbers and times

    private static let small = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
        "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
    ]
    private static let tens = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]

    /// A number from 1 up as words or digits say it; nil where they say none.
    private static func number(_ words: ArraySlice<String>) -> Int? {
        guard let first = words.first, words.count <= 2 else { return nil }
        if words.count == 1 {
            let number = Int(first) ?? small.firstIndex(of: first) ?? tens.firstIndex(of: first).map { $0 * 10 }
            return (first == "hundred" ? 100 : number).flatMap { $0 > 0 ? $0 : nil }
        }
        guard let ten = tens.firstIndex(of: first), let one = small.firstIndex(of: words[words.startIndex + 1]),
            (2...9).contains(ten), (1...9).contains(one)
        else { return nil }
        return ten * 10 + one
    }

    private static func words(_ number: Int) -> String {
        if number < 20 { return small[number] }
        if number >= 100 { return "\(number)" }
        return number % 10 == 0 ? tens[number / 10] : "\(tens[number / 10]) \(small[number % 10])"
    }

    private static func count(to number: Int) -> String {
        (1...min(number, highestCount)).map { words($0).capitalisedFirst + "." }.joined(separator: " ")
    }

    /// As people say it.
    static func spoken(_ time: WallTime) -> String {
        let hour = time.hour % 12 == 0 ? 12 : time.hour % 12
        let next = hour % 12 + 1
        switch time.minute {
        case 0: return "\(words(hour)) o'clock"
        case 15: return "a quarter past \(words(hour))"
        case 30: return "half past \(words(hour))"
        case 45: return "a quarter to \(words(next))"
        case ..<30: return "\(minutes(time.minute)) past \(words(hour))"
        default: return "\(minutes(60 - time.minute)) to \(words(next))"
        }
    }

    private static func minutes(_ count: Int) -> String { count == 1 ? "one minute" : "\(words(count)) minutes" }
}

extension String {
    /// With a capital at the beginning.
    fileprivate var capitalisedFirst: String { prefix(1).uppercased() + dropFirst() }
}
