import Glibc

/// The lines of standard input, as they are asked for: a program that writes them faster than they are taken waits.
struct InputLines: Sendable {
    /// A line, without its end.
    enum Line: Equatable, Sendable {
        case whole([UInt8])
        /// Longer than ``lineLimit``: nothing of it is taken.
        case tooLong
    }

    /// Bytes of a line at most, as of a message to an agent in a room.
    static let lineLimit = 1_024
    /// Bytes that are read at a time, of which each may be a line.
    private static let readLimit = 4_096

    private let input: InputBytes
    /// Of what was read last.
    private var waiting: ArraySlice<Line> = []
    private var begun: [UInt8] = []
    private var isTooLong = false
    private var hasEnded = false

    init(_ input: InputBytes = InputBytes(STDIN_FILENO)) { self.input = input }

    /// Waits for a line; nil behind the last one, and once the task is cancelled.
    mutating func next() async -> Line? {
        while true {
            if let line = waiting.popFirst() { return line }
            guard !hasEnded else { return nil }
            let bytes = await input.next(Self.readLimit)
            guard !Task.isCancelled else { return nil }
            guard let bytes else {
                hasEnded = true
                if !isTooLong, !begun.isEmpty { return .whole(begun) }
                return nil
            }
            for byte in bytes { take(byte) }
        }
    }

    private mutating func take(_ byte: UInt8) {
        guard byte != UInt8(ascii: "\n") else {
            waiting.append(isTooLong ? .tooLong : .whole(begun))
            (begun, isTooLong) = ([], false)
            return
        }
        isTooLong = isTooLong || begun.count == Self.lineLimit
        if !isTooLong { begun.append(byte) }
    }
}
