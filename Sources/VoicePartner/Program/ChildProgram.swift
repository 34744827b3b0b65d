internal import Glibc

/// A program of the system that is given some text and whose output is read; it is killed when it is let go.
///
/// By one thread at a time; reading blocks.
@safe
final class ChildProgram: @unchecked Sendable {
    /// As much as a socket takes at once and before anybody reads.
    static let longestInput = 4_096

    private let process: pid_t
    private let output: Int32

    /// Starts `name`, which is looked for on PATH, with no signal blocked or ignored. What is behind ``longestInput``
    /// bytes of `input` is dropped.
    init(_ name: String, _ arguments: [String], input: [UInt8]) throws(PartnerError) {
        let (given, giving) = try Self.pair()
        defer { Glibc.close(given) }
        // Before anybody reads: it fits into the socket, and nobody can have closed that.
        let text = Array(input.prefix(Self.longestInput))
        _ = unsafe text.withUnsafeBytes { unsafe write(giving, $0.baseAddress, $0.count) }
        Glibc.close(giving)
        let (reading, writing) = try Self.pair()
        defer { Glibc.close(writing) }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, given, STDIN_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, writing, STDOUT_FILENO)
        unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var (none, all) = (sigset_t(), sigset_t())
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        // The threads of a conversation block signals: a program that kept that could not be interrupted.
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var words = unsafe ([name] + arguments).map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        var process: pid_t = 0
        let error = unsafe posix_spawnp(&process, name, &actions, &attributes, &words, environ)
        guard error == 0 else {
            Glibc.close(reading)
            throw error == ENOENT
                ? .notInstalled(name, package: name)
                : .synthesiserFailed("\(name) does not start: \(unsafe String(cString: strerror(error)))")
        }
        self.process = process
        output = reading
    }

    deinit {
        kill(process, SIGKILL)
        Glibc.close(output)
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) == -1, errno == EINTR {}
    }

    /// Two ends that no other child inherits: of a pipe, Glibc's module has no function that sees to that at once.
    private static func pair() throws(PartnerError) -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw .synthesiserFailed("no socket: \(unsafe String(cString: strerror(errno)))")
        }
        return (ends[0], ends[1])
    }

    /// Reads `count` bytes, or fewer at the end of the output.
    func read(_ count: Int) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: count) { bytes, filled in
            while filled < count, let start = bytes.baseAddress {
                let got = unsafe Glibc.read(output, start + filled, count - filled)
                if got > 0 { filled += got } else if got == 0 || errno != EINTR { return }
            }
        }
    }
}
