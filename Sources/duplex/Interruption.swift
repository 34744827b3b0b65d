import Dispatch
import Glibc

/// Control-C, SIGTERM and a terminal that is closed as the end of a task instead of the process, so that files are
/// closed and rooms are left.
///
/// Unchecked: the sources are set once and are thread-safe, which Dispatch does not declare.
final class Interruption: @unchecked Sendable {
    private static let signals = [SIGINT, SIGTERM, SIGHUP]
    private let sources: [any DispatchSourceSignal]
    private let stream: AsyncStream<Int32>

    /// Takes the signals over for as long as this object lives.
    init() {
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
        self.stream = stream
        sources = Self.signals.map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { continuation.yield(number) }
            source.resume()
            return source
        }
    }

    deinit {
        sources.forEach { $0.cancel() }
        for number in Self.signals { signal(number, SIG_DFL) }
    }

    /// Returns the next signal when it comes, or nil when the task is cancelled. For one caller at a time.
    @discardableResult
    func wait() async -> Int32? {
        for await number in stream { return number }
        return nil
    }
}
