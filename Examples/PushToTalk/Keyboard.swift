import Foundation

/// What is typed, key by key and without its echo; or what a pipe brings. Ends with it. The terminal is as it was once
/// the stream is let go of, or a signal ends the program.
func keys() -> AsyncStream<Character> {
    var usual = termios()
    let isTerminal = unsafe tcgetattr(STDIN_FILENO, &usual) == 0
    // Sources are thread-safe, which Dispatch does not declare.
    nonisolated(unsafe) let endings = isTerminal ? [SIGINT, SIGTERM].map { restore(usual, at: $0) } : []
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
        for ending in unsafe endings { ending.cancel() }
    }
    Thread.detachNewThread {
        while let byte = try? FileHandle.standardInput.read(upToCount: 1)?.first {
            continuation.yield(Character(Unicode.Scalar(byte)))
        }
        continuation.finish()
    }
    return keys
}

/// Has a signal that ends the program give the terminal back first.
private func restore(_ usual: termios, at number: Int32) -> any DispatchSourceSignal {
    _ = signal(number, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
    source.setEventHandler {
        var usual = usual
        unsafe tcsetattr(STDIN_FILENO, TCSANOW, &usual)
        _ = signal(number, SIG_DFL)
        kill(getpid(), number)
    }
    source.resume()
    return source
}
