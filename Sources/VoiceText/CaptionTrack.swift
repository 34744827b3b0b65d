/// Which text lies where in the sound of an utterance, so that captions can follow what is heard.
///
///     var track = CaptionTrack(utterance: 3)
///     track.append("Good morning. ", from: .zero, to: .milliseconds(900))
///     track.text(heard: .milliseconds(500))      // "Good"
///
/// The bounds of a piece are exact. Inside, words are taken to be as long as their letters are many. Pieces are joined
/// as they are: whoever has words adds the spaces.
public struct CaptionTrack: Equatable, Sendable {
    /// The text stream of a room under which tracks travel (``encoded``); each utterance is a round.
    public static let stream = "captions"
    /// Pieces, at most; what comes then is refused.
    public static let pieceLimit = 2_048
    /// How long a letter is taken to last where the end of a piece is not known, ms.
    private static let letterMilliseconds = 65

    /// Text and where its sound lies, from the utterance's beginning.
    public struct Piece: Equatable, Sendable {
        /// The text.
        public let text: String
        /// Where its sound begins, in whole milliseconds.
        public let start: Duration
        /// Where it ends; nil where that is not known yet: where the next begins.
        public internal(set) var end: Duration?
    }

    /// Whose sound it is: what the talker calls the utterance.
    public let utterance: UInt32
    /// In the order of their sound.
    public private(set) var pieces: [Piece] = []

    /// A track without text.
    public init(utterance: UInt32) { self.utterance = utterance }

    /// All of the text.
    public var text: String { pieces.lazy.map(\.text).joined() }

    /// Where the last piece ends; nil where that is not known, or there is none.
    public var end: Duration? { pieces.last?.end }

    /// Adds text whose sound begins at `start`, not before the last piece's; rounded to milliseconds.
    ///
    /// - Parameters:
    ///   - text: what is said, of any length.
    ///   - start: where its sound begins, from the utterance's beginning.
    ///   - end: where its sound ends; nil where that is not known yet.
    /// - Returns: false where the places make no sense, or there are too many pieces.
    @discardableResult
    public mutating func append(_ text: String, from start: Duration, to end: Duration? = nil) -> Bool {
        guard pieces.count < Self.pieceLimit, start >= (pieces.last?.start ?? .zero), end ?? start >= start else {
            return false
        }
        if let last = pieces.indices.last, pieces[last].end == nil { pieces[last].end = Self.rounded(start) }
        pieces.append(Piece(text: text, start: Self.rounded(start), end: end.map(Self.rounded)))
        return true
    }

    /// Says where the last piece ends; does nothing where that is before its start, or there is none.
    public mutating func end(at end: Duration) {
        guard let last = pieces.indices.last, end >= pieces[last].start else { return }
        pieces[last].end = Self.rounded(end)
    }

    /// The text to the last word that was heard whole, where so much of the utterance was heard.
    public func text(heard: Duration) -> String {
        var text = ""
        for piece in pieces where piece.start < heard {
            if let end = piece.end, heard >= end {
                text += piece.text
                continue
            }
            let length = piece.end.map { $0 - piece.start } ?? .milliseconds(Self.letterMilliseconds * piece.text.count)
            text += Self.words(of: piece.text, part: (heard - piece.start) / max(length, .milliseconds(1)))
            break
        }
        return text
    }

    /// The whole words of the first `part` of a text, 0 to 1.
    private static func words(of text: String, part: Double) -> Substring {
        let count = Int(min(max(part, 0), 1) * Double(text.count))
        let prefix = text.prefix(count)
        if prefix.endIndex == text.endIndex || text[prefix.endIndex].isWhitespace { return prefix }
        // A word that the cut goes through was not heard.
        return prefix.lastIndex(where: \.isWhitespace).map { prefix[..<$0] } ?? ""
    }

    private static func rounded(_ duration: Duration) -> Duration { .milliseconds(Int64(duration / .milliseconds(1))) }
}

extension CaptionTrack {
    /// As a text stream carries it: a line with the utterance, then one for each piece, its start and end in
    /// milliseconds (`-` where the end is not known), a tab and the text, in which `\` and the end of a line are
    /// escaped. What is appended lies behind what there was, so that only that is sent.
    public var encoded: String {
        var out = "utterance \(utterance)\n"
        for piece in pieces {
            out += "\(Int64(piece.start / .milliseconds(1))) "
            out += piece.end.map { "\(Int64($0 / .milliseconds(1)))" } ?? "-"
            out += "\t"
            for scalar in piece.text.unicodeScalars {
                switch scalar {
                case "\\": out += "\\\\"
                case "\n": out += "\\n"
                case "\r": out += "\\r"
                default: out.unicodeScalars.append(scalar)
                }
            }
            out += "\n"
        }
        return out
    }

    /// What somebody has sent; nil where that is no track. Costs what the text is long.
    public init?(encoded: String) {
        // By scalars: a line's end may be part of a character.
        var lines = encoded.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)[...]
        guard let head = lines.popFirst(), String(head).hasPrefix("utterance "),
            let number = UInt32(String(head).dropFirst("utterance ".count)), lines.last?.isEmpty == true
        else { return nil }
        self.init(utterance: number)
        for line in lines.dropLast() {
            guard let tab = line.firstIndex(of: "\t"), let (start, end) = Self.times(line[..<tab]),
                let text = Self.unescaped(line[line.index(after: tab)...]), append(text, from: start, to: end)
            else { return nil }
        }
    }

    private static func times(_ text: Substring.UnicodeScalarView) -> (Duration, Duration?)? {
        let parts = String(text).split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 2, let start = UInt32(parts[0]) else { return nil }
        if parts[1] == "-" { return (.milliseconds(start), nil) }
        guard let end = UInt32(parts[1]) else { return nil }
        return (.milliseconds(start), .milliseconds(end))
    }

    private static func unescaped(_ text: Substring.UnicodeScalarView) -> String? {
        var out = String.UnicodeScalarView()
        var isEscaped = false
        for scalar in text {
            if isEscaped {
                switch scalar {
                case "\\": out.append("\\")
                case "n": out.append("\n")
                case "r": out.append("\r")
                default: return nil
                }
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
            } else {
                out.append(scalar)
            }
        }
        return isEscaped ? nil : String(out)
    }
}
