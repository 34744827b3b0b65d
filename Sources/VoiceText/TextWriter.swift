/// A change of a text.
package enum TextChange: Equatable, Sendable {
    /// The text is this now, as a recogniser's is that hears more.
    case replace(String)
    /// This comes behind it, as a model's tokens do.
    case append(String)
}

/// The writer's end of one text stream: keeps the text, and makes the frames that bring its readers up to date.
///
/// What every reader is known to share with the text is a prefix, so a number: an edit at byte e makes it e at most.
/// Frames are made of the text as it stands when they can be sent; states that were overtaken are not. One reader that
/// comes late or has missed something has a number of its own until it is up to date.
struct TextWriter<Reader: Hashable & Sendable>: Sendable {
    /// How far readers are.
    private struct Progress: Sendable {
        /// Bytes that they share with the text.
        var shared = 0
        /// Whether there is something that they have not been told.
        var isBehind = false
    }

    let name: [UInt8]
    /// The texts begun; 0 before the first.
    private(set) var round: UInt32 = 0
    private var text: [UInt8] = []
    private var extras: [UInt8] = []
    private var isFinal = false
    /// Whether the next change begins a round.
    private var isOver = true
    private var check = PrefixCheck()
    private var sequence: UInt32 = 0
    private var everyone = Progress()
    /// Readers that are being sent all of it, first come first served.
    private var single: [(reader: Reader, progress: Progress)] = []
    /// Frames for all and frames for single readers take turns.
    private var isSinglesTurn = false

    init(_ name: String) throws(TextError) {
        self.name = Array(name.utf8)
        guard 1...TextFormat.nameLimit ~= self.name.count else { throw .invalidName }
    }

    /// Changes the text; the first change, and the first after a final one, begins the next round. What cannot be is
    /// refused and changes nothing.
    mutating func change(_ change: TextChange, isFinal: Bool, extras: String) throws(TextError) {
        let extras = Array(extras.utf8)
        guard extras.count <= TextFormat.extrasLimit else { throw .extrasTooLong(bytes: extras.count) }
        let before = isOver ? 0 : text.count
        let shared: Int
        switch change {
        case .replace(let new):
            let after = Array(new.utf8)
            guard after.count <= TextFormat.textLimit else { throw .textTooLong(bytes: after.count) }
            shared = Self.sharedPrefix(of: text[..<before], after)
            text = after
        case .append(let more):
            let count = before + more.utf8.count
            guard count <= TextFormat.textLimit else { throw .textTooLong(bytes: count) }
            shared = before
            text.removeSubrange(before...)
            text.append(contentsOf: more.utf8)
        }
        if isOver { round += 1 }
        (self.extras, self.isFinal, isOver) = (extras, isFinal, isFinal)
        check.update(text, from: shared)
        everyone = Progress(shared: min(everyone.shared, shared), isBehind: true)
        for position in single.indices {
            single[position].progress.shared = min(single[position].progress.shared, shared)
        }
    }

    private static func sharedPrefix(of a: ArraySlice<UInt8>, _ b: [UInt8]) -> Int {
        let limit = min(a.count, b.count)
        return (0..<limit).first { a[$0] != b[$0] } ?? limit
    }

    /// Gives the text up: the next change begins the next round.
    mutating func abandon() { isOver = true }

    /// Has `reader`, or where none is given everybody, sent all of it.
    mutating func sendWhole(to reader: Reader?) {
        guard round > 0 else { return }
        if let reader {
            guard single.count < TextFormat.memberLimit, !single.contains(where: { $0.reader == reader }) else {
                return
            }
            single.append((reader, Progress(isBehind: true)))
        } else {
            everyone = Progress(isBehind: true)
            single = []
        }
    }

    /// Has everybody told how the text stands, of which whoever has it whole hears nothing new, and who has not sees
    /// that something is missing.
    mutating func confirm() { everyone.isBehind = round > 0 }

    /// `reader` has gone.
    mutating func forget(_ reader: Reader) { single.removeAll { $0.reader == reader } }

    /// Whether ``pollFrame()`` has something.
    var isBehind: Bool { everyone.isBehind || !single.isEmpty }

    /// The next frame to send, to `reader` or where that is nil to everybody; nil where all are up to date.
    mutating func pollFrame() -> (frame: [UInt8], reader: Reader?)? {
        if everyone.isBehind, !isSinglesTurn || single.isEmpty {
            isSinglesTurn = true
            let (frame, progress) = makeFrame(after: everyone)
            everyone = progress
            return (frame, nil)
        }
        isSinglesTurn = false
        guard !single.isEmpty else { return nil }
        let (reader, before) = single.removeFirst()
        let (frame, progress) = makeFrame(after: before)
        // Behind the others, so that all come on.
        if progress.isBehind { single.append((reader, progress)) }
        return (frame, reader)
    }

    /// The frame that follows for readers who are that far, and how far they are then.
    private mutating func makeFrame(after progress: Progress) -> ([UInt8], Progress) {
        let room = TextFormat.frameLimit - TextFormat.fixedBytes - name.count
        let keep = progress.shared
        let end = min(keep + room, text.count)
        let isComplete = end == text.count && end - keep + extras.count <= room
        sequence += 1
        let frame = TextFrame(
            name: name, round: round, sequence: sequence, keep: keep, bytes: Array(text[keep..<end]),
            completion: isComplete
                ? TextFrame.Completion(check: check.value, isFinal: isFinal, extras: extras) : nil)
        return (frame.encoded, Progress(shared: end, isBehind: !isComplete))
    }
}
