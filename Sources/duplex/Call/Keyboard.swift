import Dispatch
import Glibc

/// The terminal's keys, one by one as they are pressed and without their echo, until it is restored.
///
/// Unchecked: all is set once, and the source is thread-safe, which Dispatch does not declare.
final class Keyboard: @unchecked Sendable {
    /// What is pressed; ends with the terminal.
    let keys: AsyncStream<UInt8>
    private let source: any DispatchSourceRead
    private let usual: termios

    /// Nil where stdin is no terminal, or this process is in its background.
    init?() {
        var settings = termios()
        guard isatty(STDIN_FILENO) == 1, unsafe tcgetattr(STDIN_FILENO, &settings) == 0 else { return nil }
        let foreground = tcgetpgrp(STDIN_FILENO)
        guard foreground == -1 || foreground == getpgrp() else { return nil }
        usual = settings
        // Control-C stays a signal.
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        guard unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings) == 0 else { return nil }
        let (keys, continuation) = AsyncStream.makeStream(of: UInt8.self, bufferingPolicy: .bufferingOldest(64))
        self.keys = keys
        let source = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: .global())
        source.setEventHandler {
            var key: UInt8 = 0
            guard unsafe read(STDIN_FILENO, &key, 1) == 1 else {
                continuation.finish()
                return source.cancel()
            }
            continuation.yield(key)
        }
        source.resume()
        self.source = source
    }

    /// Leaves the terminal as it was.
    func restore() {
        source.cancel()
        var settings = usual
        unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    }
}
