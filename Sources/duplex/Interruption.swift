import Dispatch
import Glibc

/// Control-C, SIGTERM and a terminal that is closed as the end of a task instead of the process, so that files are
/// closed and rooms are left.
///
/// Unchecked: the sources are set once and are thread-safe, which Dispatch does not declare.
final class Interruption: @unchecked Sendable {
    /// Those that end the process again once this is gone.
    private let ending: [Int32]
    private let sources: [any DispatchSourceSignal]
    private let stream: AsyncStream<Int32>

    /// SIG_IGN, as a number.
    private static let ignored = 1

    /// Takes the signals over for as long as this object lives. A program that was begun by nohup(1) is to outlive its
    /// terminal: SIGHUP stays ignored there.
    ///
    /// - Parameters:
    ///   - takesIgnoredHangUp: where SIGHUP says something else than that the terminal is closed.
    ///   - others: further signals, by which something else is asked for. They end nothing afterwards either, while the
    ///     process says goodbye.
    init(takesIgnoredHangUp: Bool = false, others: [Int32] = []) {
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
        self.stream = stream
        let signals = ([SIGINT, SIGTERM, SIGHUP] + others).filter { number in
            let before = signal(number, SIG_IGN)
            let isIgnored = unsafe unsafeBitCast(before, to: Int.self) == Self.ignored
            return number != SIGHUP || takesIgnoredHangUp || !isIgnored
        }
        ending = signals.filter { !others.contains($0) }
        sources = signals.map { number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { continuation.yield(number) }
            source.resume()
            return source
        }
    }

    deinit {
        sources.forEach { $0.cancel() }
        for number in ending { signal(number, SIG_DFL) }
    }

    /// Returns the next signal when it comes, or nil when the task is cancelled. For one caller at a time.
    @discardableResult
    func wait() async -> Int32? {
        for await number in stream { return number }
        return nil
    }
}
