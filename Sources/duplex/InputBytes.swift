import Dispatch
import Glibc

/// What comes on a descriptor: read only when it is asked for, so that who writes faster waits. Of a terminal what is
/// typed while this process is in its foreground: the rest is its shell's.
struct InputBytes: Sendable {
    /// How often a process in the background looks whether it is in the foreground again, which no signal tells.
    static let pause = Duration.milliseconds(500)

    private let descriptor: Int32
    private let pause: Duration
    private let isOurs: @Sendable () -> Bool

    /// - Parameters:
    ///   - pause: see ``pause``.
    ///   - isOurs: whether what comes is this process's; nil for ``isInForeground(of:)``.
    init(_ descriptor: Int32, pause: Duration = Self.pause, isOurs: (@Sendable () -> Bool)? = nil) {
        self.descriptor = descriptor
        self.pause = pause
        if let isOurs {
            self.isOurs = isOurs
        } else {
            self.isOurs = { Self.isInForeground(of: descriptor) }
        }
    }

    /// Whether this process is in the foreground of a terminal, or the descriptor is none that has one.
    static func isInForeground(of descriptor: Int32) -> Bool {
        let foreground = tcgetpgrp(descriptor)
        return foreground == -1 || foreground == getpgrp()
    }

    /// Waits for bytes; returns `limit` at most, and nil at the end or once the task is cancelled.
    func next(_ limit: Int) async -> [UInt8]? {
        while !Task.isCancelled {
            let readiness = Readiness(descriptor)
            for await _ in readiness.signal {}
            readiness.stop()
            guard !Task.isCancelled else { break }
            guard isOurs() else {
                try? await Task.sleep(for: pause)
                continue
            }
            var bytes = [UInt8](repeating: 0, count: limit)
            let count = unsafe read(descriptor, &bytes, limit)
            let number = errno
            guard count <= 0 else { return Array(bytes.prefix(count)) }
            // Between the look and the reading it may have gone to the background, which is EIO.
            guard count < 0, number == EINTR || number == EAGAIN || !isOurs() else { return nil }
        }
        return nil
    }
}

/// Tells once that there is something to read.
///
/// Unchecked: all is set once, and the source is thread-safe, which Dispatch does not declare.
private final class Readiness: @unchecked Sendable {
    /// Ends when there is.
    let signal: AsyncStream<Void>
    private let source: any DispatchSourceRead

    init(_ descriptor: Int32) {
        let (signal, continuation) = AsyncStream.makeStream(of: Void.self)
        self.signal = signal
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .global())
        source.setEventHandler {
            continuation.finish()
            source.cancel()
        }
        source.resume()
        self.source = source
    }

    func stop() { source.cancel() }
}
