/// All text streams that one participant reads, of all writers.
///
/// Pure: time comes in as `now`, updates and requests are polled. It keeps eight streams of each writer; a ninth takes
/// the place of the one that was written to longest ago. Of more writers than a room holds, whom a server may name, it
/// forgets the one who has written nothing for longest. A text that has missed something is asked for after a second,
/// since most often it is under way already, and at longer and longer intervals, six times; then it waits for a frame
/// that shows it again. What is told of a writer is bounded, since a frame of twenty bytes may change a text of 64 kB:
/// beyond ``toldBytes`` updates wait, and the latest state is told.
package struct TextBoard<Writer: Hashable & Sendable>: Sendable {
    private struct Stream: Sendable {
        let name: [UInt8]
        var reader = TextReader()
        /// Whether it is in `changed`, and in `missing`.
        var isNew = false
        var isMissing = false
        /// The position of its last frame in all that came.
        var age = 0
    }

    /// A stream of a writer.
    private struct Key: Equatable, Sendable {
        let writer: Writer
        let name: [UInt8]
    }

    /// A stream that has missed something, and when it is asked for.
    private struct Missing: Sendable {
        let key: Key
        var askAt: Duration
        var attempts = 0
    }

    /// Bytes of a writer's texts that are told a second, and at once: about as much as its messages could be.
    static var toldBytes: Int { 1 << 20 }
    private static var patience: Duration { .seconds(1) }
    private static var attempts: Int { 6 }

    /// Of each writer at most ``TextFormat/streamLimit``.
    private var streams: [Writer: [Stream]] = [:]
    private var changed: [Key] = []
    private var missing: [Missing] = []
    /// When all that may be told at once of a writer is free again; of one of whom nothing was told it is.
    private var told: [Writer: Duration] = [:]
    private var frames = 0
    /// Frames that were none.
    package private(set) var malformed = 0

    package init() {}

    /// Streams that are kept.
    var streamCount: Int { streams.values.reduce(0) { $0 + $1.count } }

    // MARK: In

    /// A frame that `writer` has sent.
    package mutating func handle(_ bytes: [UInt8], from writer: Writer, now: Duration) {
        guard let frame = TextFrame(bytes) else {
            malformed += 1
            return
        }
        let key = Key(writer: writer, name: frame.name)
        let position = place(of: key)
        frames += 1
        streams[writer]?[position].age = frames
        switch streams[writer]?[position].reader.handle(frame) {
        case .missedSomething: miss(key, at: position, now: now)
        case .changed:
            settle(key, at: position)
            announce(key, at: position)
        case .unchanged: settle(key, at: position)
        case .ignored, .underWay, nil: break
        }
    }

    /// `writer` has gone, with all its texts.
    package mutating func forget(_ writer: Writer) {
        streams[writer] = nil
        told[writer] = nil
        changed.removeAll { $0.writer == writer }
        missing.removeAll { $0.key.writer == writer }
    }

    /// Where a stream is among its writer's; one that is new may take another's place.
    private mutating func place(of key: Key) -> Int {
        let own = streams[key.writer] ?? []
        if let position = own.firstIndex(where: { $0.name == key.name }) { return position }
        if own.count >= TextFormat.streamLimit, let oldest = own.indices.min(by: { own[$0].age < own[$1].age }) {
            let old = Key(writer: key.writer, name: own[oldest].name)
            changed.removeAll { $0 == old }
            missing.removeAll { $0.key == old }
            streams[key.writer]?[oldest] = Stream(name: key.name)
            return oldest
        }
        if own.isEmpty, streams.count >= TextFormat.memberLimit { forgetOldest() }
        streams[key.writer, default: []].append(Stream(name: key.name))
        return own.count
    }

    private mutating func forgetOldest() {
        let oldest = streams.min { Self.newest(of: $0.value) < Self.newest(of: $1.value) }
        if let oldest { forget(oldest.key) }
    }

    private static func newest(of streams: [Stream]) -> Int { streams.reduce(0) { max($0, $1.age) } }

    private mutating func announce(_ key: Key, at position: Int) {
        guard streams[key.writer]?[position].isNew == false else { return }
        streams[key.writer]?[position].isNew = true
        changed.append(key)
    }

    private mutating func miss(_ key: Key, at position: Int, now: Duration) {
        guard streams[key.writer]?[position].isMissing == false else { return }
        streams[key.writer]?[position].isMissing = true
        missing.append(Missing(key: key, askAt: now + Self.patience))
    }

    private mutating func settle(_ key: Key, at position: Int) {
        guard streams[key.writer]?[position].isMissing == true else { return }
        streams[key.writer]?[position].isMissing = false
        missing.removeAll { $0.key == key }
    }

    // MARK: Out

    /// The latest state of a stream that has changed; of states that were overtaken nothing is told. Call until nil when
    /// ``nextTimeout`` has come.
    package mutating func pollUpdate(now: Duration) -> (writer: Writer, update: TextUpdate)? {
        guard let turn = changed.firstIndex(where: { opening(of: $0.writer) <= now }) else { return nil }
        let key = changed.remove(at: turn)
        let position = place(of: key)
        streams[key.writer]?[position].isNew = false
        guard let update = streams[key.writer]?[position].reader.update else { return nil }
        let share = Double(update.text.utf8.count + update.extras.utf8.count) / Double(Self.toldBytes)
        told[key.writer] = max(told[key.writer] ?? now, now) + .seconds(share)
        return (key.writer, update)
    }

    /// When the next update of a writer may be told.
    private func opening(of writer: Writer) -> Duration { (told[writer] ?? .zero) - .seconds(1) }

    /// What to ask a writer; call until nil when ``nextTimeout`` has come.
    package mutating func pollRequest(now: Duration) -> (request: [UInt8], writer: Writer)? {
        guard let position = missing.firstIndex(where: { $0.askAt <= now }) else { return nil }
        let key = missing[position].key
        missing[position].attempts += 1
        let attempts = missing[position].attempts
        if attempts < Self.attempts {
            missing[position].askAt = now + Self.patience * (1 << attempts)
        } else {
            settle(key, at: place(of: key))
        }
        return (TextRequest(name: key.name).encoded, key.writer)
    }

    /// When to call ``pollUpdate(now:)`` and ``pollRequest(now:)``; nil where nothing is new and nothing is missed.
    package var nextTimeout: Duration? {
        [changed.lazy.map { opening(of: $0.writer) }.min(), missing.lazy.map(\.askAt).min()].compactMap { $0 }.min()
    }
}
