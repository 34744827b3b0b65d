/// All text streams that one participant reads, of all writers.
///
/// Pure: time comes in as `now`, updates and requests are polled. It keeps eight streams of each writer; a ninth takes
/// the place of the one that was written to longest ago. A text that has missed something is asked for after a second,
/// since most often it is under way already, and at longer and longer intervals, six times.
package struct TextBoard<Writer: Hashable & Sendable>: Sendable {
    private struct Stream: Sendable {
        let writer: Writer
        let name: [UInt8]
        var reader = TextReader()
        var isNew = false
        /// When to ask for it, and how often it was.
        var askAt: Duration?
        var asked = 0
        /// The position of its last frame in all that came.
        var age = 0
    }

    private static var patience: Duration { .seconds(1) }
    private static var attempts: Int { 6 }

    private var streams: [Stream] = []
    private var frames = 0
    /// Frames that were none.
    package private(set) var malformed = 0

    package init() {}

    /// Streams that are kept.
    var streamCount: Int { streams.count }

    // MARK: In

    /// A frame that `writer` has sent.
    package mutating func handle(_ bytes: [UInt8], from writer: Writer, now: Duration) {
        guard let frame = TextFrame(bytes) else {
            malformed += 1
            return
        }
        let position = place(of: frame.name, writer)
        frames += 1
        streams[position].age = frames
        let outcome = streams[position].reader.handle(frame)
        switch outcome {
        case .missedSomething:
            if streams[position].askAt == nil { streams[position].askAt = now + Self.patience }
        case .changed, .unchanged:
            streams[position].isNew = streams[position].isNew || outcome == .changed
            (streams[position].askAt, streams[position].asked) = (nil, 0)
        case .ignored, .underWay: break
        }
    }

    /// `writer` has gone, with all its texts.
    package mutating func forget(_ writer: Writer) { streams.removeAll { $0.writer == writer } }

    private mutating func place(of name: [UInt8], _ writer: Writer) -> Int {
        let own = streams.indices.filter { streams[$0].writer == writer }
        if let position = own.first(where: { streams[$0].name == name }) { return position }
        if own.count >= TextFormat.streamLimit, let oldest = own.min(by: { streams[$0].age < streams[$1].age }) {
            streams[oldest] = Stream(writer: writer, name: name)
            return oldest
        }
        streams.append(Stream(writer: writer, name: name))
        return streams.count - 1
    }

    // MARK: Out

    /// The latest state of a stream that has changed; of states that were overtaken nothing is told. Call until nil.
    package mutating func pollUpdate() -> (writer: Writer, update: TextUpdate)? {
        guard let position = streams.firstIndex(where: \.isNew) else { return nil }
        streams[position].isNew = false
        return streams[position].reader.update.map { (streams[position].writer, $0) }
    }

    /// What to ask a writer; call until nil when ``nextTimeout`` has come.
    package mutating func pollRequest(now: Duration) -> (request: [UInt8], writer: Writer)? {
        guard let position = streams.firstIndex(where: { $0.askAt.map { $0 <= now } ?? false }) else { return nil }
        streams[position].asked += 1
        let attempt = streams[position].asked
        streams[position].askAt = attempt < Self.attempts ? now + Self.patience * (1 << attempt) : nil
        return (TextRequest(name: streams[position].name).encoded, streams[position].writer)
    }

    /// When to call ``pollRequest(now:)``; nil where nothing is missed.
    package var nextTimeout: Duration? { streams.lazy.compactMap(\.askAt).min() }
}
