import Dispatch
import Glibc

/// Control-C and SIGTERM as the end of a task instead of the process, so that files are closed and rooms are left.
///
/// Unchecked: the sources are set once and are thread-safe, which Dispatch does not declare.
final class Interruption: @unchecked Sendable {
    private let sources: [any DispatchSourceSignal]
    private let stream: AsyncStream<Void>

    /// Takes the signals over for as long as this object lives.
    init() {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        self.stream = stream
        sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { continuation.yield() }
            source.resume()
            return source
        }
    }

    deinit {
        sources.forEach { $0.cancel() }
        signal(SIGINT, SIG_DFL)
        signal(SIGTERM, SIG_DFL)
    }

    /// Returns at the first signal.
    func wait() async {
        for await _ in stream { return }
    }
}
