import Foundation

/// What is typed, key by key and without its echo; or what a pipe brings. Ends with it.
func keys() -> AsyncStream<Character> {
    var usual = termios()
    let isTerminal = unsafe tcgetattr(STDIN_FILENO, &usual) == 0
    if isTerminal {
        var raw = usual
        // Control-C stays a signal.
        raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
        unsafe tcsetattr(STDIN_FILENO, TCSANOW, &raw)
    }
    let (keys, continuation) = AsyncStream.makeStream(of: Character.self)
    continuation.onTermination = { [usual] _ in
        var usual = usual
        if isTerminal { unsafe tcsetattr(STDIN_FILENO, TCSANOW, &usual) }
    }
    Thread.detachNewThread {
        while let byte = try? FileHandle.standardInput.read(upToCount: 1)?.first {
            continuation.yield(Character(Unicode.Scalar(byte)))
        }
        continuation.finish()
    }
    return keys
}
