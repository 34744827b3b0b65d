import Glibc
import VoiceRealtime

/// What every command needs of the system before it begins.
enum Descriptors {
    /// Files that a command opens at least, as many as a room server keeps open. Where there are next to none, the
    /// runtime of Swift's concurrency ends the process by a trap, without a word.
    private static let needed = 12

    /// Fails where the process may not open so many more.
    static func require() throws(Failure) {
        var opened: [Int32] = []
        defer { for descriptor in opened { close(descriptor) } }
        for _ in 0..<needed {
            let descriptor = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw Failure(.unavailable, "nothing can be begun: \(systemReason(errno))") }
            opened.append(descriptor)
        }
    }
}
