import Glibc
import Synchronization

/// The terminal's keys, one by one as they are pressed and without their echo, until it is restored.
///
/// In the background, after Control-Z and `bg`, the keys are the shell's, and the process goes on without them; once
/// it is in the foreground again they are its own.
final class Keyboard: Sendable {
    /// What is pressed; ends with the terminal.
    let keys: AsyncStream<UInt8>
    private let mode: KeyMode
    private let tasks: [Task<Void, Never>]

    /// Keys that are read at a time, and that wait.
    private static let keyLimit = 64

    /// Nil where stdin is no terminal, or this process is in its background.
    init?() {
        guard let mode = KeyMode() else { return nil }
        // What stops a process in the background that reads or writes: a call goes on.
        signal(SIGTTIN, SIG_IGN)
        signal(SIGTTOU, SIG_IGN)
        guard mode.take() else { return nil }
        let keyLimit = Self.keyLimit
        let (keys, continuation) = AsyncStream.makeStream(
            of: UInt8.self, bufferingPolicy: .bufferingOldest(keyLimit))
        let reading = Task {
            let input = InputBytes(STDIN_FILENO)
            while let pressed = await input.next(keyLimit) {
                for key in pressed { continuation.yield(key) }
            }
            continuation.finish()
        }
        let watching = Task {
            // A shell has the terminal as it likes it while it has it.
            while (try? await Task.sleep(for: InputBytes.pause)) != nil { _ = mode.take() }
        }
        self.keys = keys
        self.mode = mode
        tasks = [reading, watching]
    }

    /// Leaves the terminal as it was.
    func restore() {
        for task in tasks { task.cancel() }
        mode.restore()
    }
}

/// Whether a terminal gives keys one by one, or lines. Changed in the foreground only.
private final class KeyMode: Sendable {
    private let usual: termios
    private let isWanted = Mutex(true)

    /// Lines are edited, and what is typed is shown.
    private static let lines = tcflag_t(ICANON | ECHO)

    /// Nil where stdin is no terminal, or this process is in its background.
    init?() {
        var settings = termios()
        guard isatty(STDIN_FILENO) == 1, unsafe tcgetattr(STDIN_FILENO, &settings) == 0,
            InputBytes.isInForeground(of: STDIN_FILENO)
        else { return nil }
        usual = settings
    }

    /// Has keys come one by one, if they do not; false where that cannot be.
    func take() -> Bool {
        isWanted.withLock { isWanted in
            var settings = termios()
            guard isWanted, InputBytes.isInForeground(of: STDIN_FILENO),
                unsafe tcgetattr(STDIN_FILENO, &settings) == 0
            else { return false }
            guard settings.c_lflag & Self.lines != 0 else { return true }
            // Control-C stays a signal.
            settings.c_lflag &= ~Self.lines
            return unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings) == 0
        }
    }

    /// Leaves the terminal as it was, for good.
    func restore() {
        isWanted.withLock { isWanted in
            isWanted = false
            guard InputBytes.isInForeground(of: STDIN_FILENO) else { return }
            var settings = usual
            unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings)
        }
    }
}
