/// All text streams that one participant writes, for the readers of its room: what is sent when.
///
/// Pure: time comes in as `now`, frames are polled. Frames go out at 40 a second, 16 at once, so that a long text
/// leaves the room's limits to others;
/// what changes faster is sent as it stands then.
package struct TextDesk<Reader: Hashable & Sendable>: Sendable {
    /// Between frames.
    private static var interval: Duration { .milliseconds(25) }
    private static var burst: Int { 16 }
    /// Between a refusal and the next attempt.
    private static var pause: Duration { .seconds(1) }

    private var writers: [TextWriter<Reader>] = []
    /// The stream whose frame is due next, so that they take turns.
    private var turn = 0
    /// When the next frame would be due if all were sent ``interval`` apart.
    private var pace: Duration?
    /// When all are to be told how the texts stand.
    private var confirmAt: Duration?

    package init() {}

    // MARK: In

    /// Changes the text of `stream`, which begins with the first change; see ``TextWriter/change(_:isFinal:extras:)``.
    package mutating func change(
        _ stream: String, _ change: TextChange, isFinal: Bool, extras: String
    ) throws(TextError) {
        if let position = position(of: Array(stream.utf8)) {
            try writers[position].change(change, isFinal: isFinal, extras: extras)
        } else {
            var writer = try TextWriter<Reader>(stream)
            guard writers.count < TextFormat.streamLimit else { throw .tooManyStreams }
            try writer.change(change, isFinal: isFinal, extras: extras)
            writers.append(writer)
        }
    }

    /// Gives up the text that `stream` has: the next change begins the next round.
    package mutating func abandon(_ stream: String) {
        if let position = position(of: Array(stream.utf8)) { writers[position].abandon() }
    }

    /// `reader` has come, and knows nothing.
    package mutating func welcome(_ reader: Reader) {
        for position in writers.indices { writers[position].sendWhole(to: reader) }
    }

    /// `reader` has gone.
    package mutating func forget(_ reader: Reader) {
        for position in writers.indices { writers[position].forget(reader) }
    }

    /// `reader` asks for a text. What is no request, or of no stream, is ignored.
    package mutating func handle(request: [UInt8], from reader: Reader) {
        guard let request = TextRequest(request), let position = position(of: request.name) else { return }
        writers[position].sendWhole(to: reader)
    }

    /// Nobody may have got what was sent: all is sent again, after a pause.
    package mutating func startAgain(now: Duration) {
        for position in writers.indices { writers[position].sendWhole(to: nil) }
        pace = now + Self.pause + Self.interval * Self.burst
    }

    /// Some reader has not got what was sent, it is not known which: after a pause all are told how the texts stand, a
    /// small frame each, and whoever has missed something asks. So a reader that takes nothing costs the others next to
    /// nothing.
    package mutating func confirm(now: Duration) { confirmAt = confirmAt ?? now + Self.pause }

    // MARK: Out

    /// The next frame to send, to `reader` or where that is nil to everybody; nil until ``nextTimeout``.
    package mutating func pollFrame(now: Duration) -> (frame: [UInt8], reader: Reader?)? {
        if let time = confirmAt, time <= now {
            confirmAt = nil
            for position in writers.indices { writers[position].confirm() }
        }
        guard let position = nextPosition, turnTime <= now else { return nil }
        pace = max(pace ?? now, now) + Self.interval
        turn = position + 1
        return writers[position].pollFrame()
    }

    /// When ``pollFrame(now:)`` has something, at the latest; nil where there is nothing to send.
    package var nextTimeout: Duration? {
        [nextPosition == nil ? nil : turnTime, confirmAt].compactMap { $0 }.min()
    }

    /// When the next frame may go.
    private var turnTime: Duration { (pace ?? .zero) - Self.interval * (Self.burst - 1) }

    private var nextPosition: Int? {
        (0..<writers.count).lazy.map { ($0 + turn) % writers.count }.first { writers[$0].isBehind }
    }

    private func position(of name: [UInt8]) -> Int? { writers.firstIndex { $0.name == name } }
}
