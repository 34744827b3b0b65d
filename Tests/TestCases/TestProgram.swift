import Foundation
import Glibc

/// A program that a test runs, as the leader of a process group of its own. It always ends: when its time is up it is
/// killed with all of its group, whoever waits for it, and whoever has inherited its output.
///
/// Foundation's `Process` takes the end of a socket for the end of a program; what the program starts inherits it, and
/// what hangs there is waited for without end.
public final class TestProgram {
    /// What a program reads.
    public enum Input {
        case nothing
        /// What `write` writes, until `closeInput`.
        case written
        /// An open file; it stays open here.
        case descriptor(Int32)
    }

    /// Where a program writes.
    public enum Sink: Equatable {
        case kept
        case dropped
        /// Errors only: with the output, in the order in which they are written.
        case withOutput
        /// An open file; it stays open here.
        case descriptor(Int32)
    }

    /// How a program has ended, and what it wrote that was kept.
    public struct Ended {
        /// The exit code, or the number of the signal that killed it, negative.
        public var status: Int32
        /// What it wrote to standard output.
        public var output: [UInt8]
        /// What it wrote to standard error.
        public var errors: [UInt8]

        /// `output`, as UTF-8.
        public var text: String { String(decoding: output, as: UTF8.self) }
        /// `errors`, as UTF-8.
        public var complaint: String { String(decoding: errors, as: UTF8.self) }
    }

    /// A program that could not be started.
    public struct NotStarted: Error, CustomStringConvertible {
        let program: String
        let code: Int32

        /// One sentence.
        public var description: String { "\(program) does not start: \(unsafe String(cString: strerror(code)))" }
    }

    /// One of its pipes, as far as it was read; -1 once it has ended, or is none.
    private struct Reader {
        var descriptor: Int32 = -1
        var bytes: [UInt8] = []

        /// Takes what is there, without waiting.
        mutating func drain() {
            while descriptor >= 0 {
                let count = unsafe withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 1) { room in
                    let count = unsafe read(descriptor, room.baseAddress, room.count)
                    if count > 0 { unsafe bytes += room[..<count] }
                    return count
                }
                if count < 0, errno == EAGAIN { return }
                if count <= 0 { end() }
            }
        }

        mutating func end() {
            if descriptor >= 0 { close(descriptor) }
            descriptor = -1
        }
    }

    /// The program's process, which is its group's too.
    public let identifier: pid_t
    private let deadline: ContinuousClock.Instant
    private var input: Int32 = -1
    private var output = Reader()
    private var errors = Reader()
    /// As waitpid tells it.
    private var status: Int32?

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: its path.
    ///   - limit: after this long it is killed.
    ///   - environment: all of it; that of the tests, where none is given.
    ///   - folder: where it runs; where the tests do, if none is given.
    /// - Throws: `NotStarted`.
    public init(
        _ program: String, _ arguments: [String] = [], limit: Duration = .seconds(60),
        environment: [String: String]? = nil, in folder: String? = nil, input: Input = .nothing,
        output: Sink = .kept, errors: Sink = .kept
    ) throws(NotStarted) {
        deadline = .now + limit
        var start = Start()
        switch input {
        case .nothing: start.open("/dev/null", O_RDONLY, as: STDIN_FILENO)
        case .written: self.input = start.socket(as: STDIN_FILENO)
        case .descriptor(let file): start.take(file, as: STDIN_FILENO)
        }
        self.output.descriptor = start.sink(output, as: STDOUT_FILENO)
        self.errors.descriptor = start.sink(errors, as: STDERR_FILENO)
        do throws(NotStarted) {
            identifier = try start.run(
                program, arguments, environment ?? ProcessInfo.processInfo.environment, folder)
        } catch {
            for descriptor in [self.input, self.output.descriptor, self.errors.descriptor] where descriptor >= 0 {
                close(descriptor)
            }
            throw error
        }
    }

    deinit {
        if status == nil { _ = reap(killing: true) }
        closeInput()
        output.end()
        errors.end()
    }

    /// Runs a program to its end.
    ///
    /// - Throws: `NotStarted`.
    public static func run(
        _ program: String, _ arguments: [String] = [], limit: Duration = .seconds(60),
        environment: [String: String]? = nil, in folder: String? = nil, errors: Sink = .kept
    ) throws(NotStarted) -> Ended {
        try TestProgram(program, arguments, limit: limit, environment: environment, in: folder, errors: errors).wait()
    }

    /// The path of a program that is built beside the tests.
    public static func built(_ name: String) -> String {
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().appending(path: name)
            .path()
    }

    // MARK: While it runs

    /// Whether it has not ended yet, and its time is not up.
    public var isRunning: Bool { poll() == nil }

    /// Sends a signal, if it runs.
    public func signal(_ number: Int32) {
        if status == nil { kill(identifier, number) }
    }

    /// Writes to its standard input, if it still reads.
    public func write(_ text: String) {
        let bytes = Array(text.utf8)
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes[sent...].withUnsafeBytes { rest in
                unsafe send(input, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            sent += count
        }
    }

    /// The end of what it reads.
    public func closeInput() {
        if input >= 0 { close(input) }
        input = -1
    }

    /// Stops reading its output, as `head` does.
    public func stopReading() { output.end() }

    /// What it writes next, as soon as there is something; nil at its end.
    public func nextOutput() -> [UInt8]? {
        while true {
            let hasEnded = poll() != nil
            output.drain()
            if !output.bytes.isEmpty {
                defer { output.bytes = [] }
                return output.bytes
            }
            if hasEnded || output.descriptor < 0 { return nil }
            pause()
        }
    }

    // MARK: Its end

    /// Waits for its end; what it has started ends with it.
    public func wait() -> Ended {
        while true {
            if let ended = poll() { return ended }
            pause()
        }
    }

    /// Waits for its end without holding a thread.
    nonisolated(nonsending) public func end() async throws -> Ended {
        while true {
            if let ended = poll() { return ended }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// How it has ended, if it has. It is killed if its time is up.
    private func poll() -> Ended? {
        // Before what is last is read
        let hasEnded = status != nil || reap(killing: ContinuousClock.now > deadline)
        output.drain()
        errors.drain()
        guard hasEnded, let status else { return nil }
        let signal = status & 0x7F
        return Ended(
            status: signal == 0 ? (status >> 8) & 0xFF : -signal, output: output.bytes, errors: errors.bytes)
    }

    /// Until it has written something, or a moment.
    private func pause() {
        var readers = [output, errors].map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        _ = unsafe Glibc.poll(&readers, nfds_t(readers.count), 5)
    }

    /// Whether it has ended: then it is no more, nor is its group.
    private func reap(killing: Bool) -> Bool {
        if killing { kill(-identifier, SIGKILL) }
        // As long as it is not waited for, nobody else gets its number.
        var information = unsafe siginfo_t()
        let options = WEXITED | WNOWAIT | (killing ? 0 : WNOHANG)
        let result = retrying { unsafe waitid(P_PID, id_t(identifier), &information, options) }
        guard result == 0, unsafe information.si_signo == SIGCHLD else { return false }
        kill(-identifier, SIGKILL)
        var last: Int32 = 0
        _ = retrying { unsafe waitpid(identifier, &last, 0) }
        status = last
        return true
    }

    private func retrying(_ call: () -> Int32) -> Int32 {
        while true {
            let result = call()
            if result >= 0 || errno != EINTR { return result }
        }
    }
}

extension TestProgram {
    /// What posix_spawn is to do, and what is to be closed once it has.
    @safe private struct Start: ~Copyable {
        private var actions = unsafe posix_spawn_file_actions_t()
        private var toClose: [Int32] = []

        init() { unsafe posix_spawn_file_actions_init(&actions) }

        deinit {
            var actions = unsafe actions
            unsafe posix_spawn_file_actions_destroy(&actions)
            for descriptor in toClose { close(descriptor) }
        }

        mutating func open(_ path: String, _ flags: Int32, as descriptor: Int32) {
            unsafe posix_spawn_file_actions_addopen(&actions, descriptor, path, flags, 0)
        }

        mutating func take(_ file: Int32, as descriptor: Int32) {
            unsafe posix_spawn_file_actions_adddup2(&actions, file, descriptor)
        }

        /// A socket, so that writing to who has ended is no signal; our end.
        mutating func socket(as descriptor: Int32) -> Int32 {
            var ends: [Int32] = [-1, -1]
            unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends)
            return keep(ends[0], giving: ends[1], as: descriptor)
        }

        /// Our end of a pipe, where what is written is kept.
        mutating func sink(_ sink: Sink, as descriptor: Int32) -> Int32 {
            switch sink {
            case .dropped: open("/dev/null", O_WRONLY, as: descriptor)
            case .withOutput: take(STDOUT_FILENO, as: descriptor)
            case .descriptor(let file): take(file, as: descriptor)
            case .kept:
                var ends: [Int32] = [-1, -1]
                _ = unsafe pipe(&ends)
                for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
                // Ours alone does not wait.
                _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
                return keep(ends[0], giving: ends[1], as: descriptor)
            }
            return -1
        }

        private mutating func keep(_ ours: Int32, giving theirs: Int32, as descriptor: Int32) -> Int32 {
            take(theirs, as: descriptor)
            toClose.append(theirs)
            return ours
        }

        /// Starts it with nothing but its three files, no signal blocked, and none ignored.
        mutating func run(
            _ program: String, _ arguments: [String], _ environment: [String: String], _ folder: String?
        ) throws(NotStarted) -> pid_t {
            let files = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
            for file in files.compactMap({ Int32($0) }) where file > STDERR_FILENO {
                unsafe posix_spawn_file_actions_addclose(&actions, file)
            }
            // What changes the folder is no part of what Swift sees of glibc.
            let command = folder.map { ["/usr/bin/env", "-C", $0, program] } ?? [program]
            var attributes = posix_spawnattr_t()
            unsafe posix_spawnattr_init(&attributes)
            defer { unsafe posix_spawnattr_destroy(&attributes) }
            var (none, all) = (sigset_t(), sigset_t())
            unsafe sigemptyset(&none)
            unsafe sigfillset(&all)
            unsafe posix_spawnattr_setsigmask(&attributes, &none)
            unsafe posix_spawnattr_setsigdefault(&attributes, &all)
            unsafe posix_spawnattr_setpgroup(&attributes, 0)
            unsafe posix_spawnattr_setflags(
                &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
            var words = unsafe (command + arguments).map { unsafe strdup($0) } + [nil]
            var variables = unsafe environment.map { unsafe strdup("\($0.key)=\($0.value)") } + [nil]
            defer { unsafe (words + variables).forEach { unsafe free($0) } }
            var identifier: pid_t = 0
            let code = unsafe posix_spawn(&identifier, command[0], &actions, &attributes, &words, &variables)
            guard code == 0 else { throw NotStarted(program: program, code: code) }
            return identifier
        }
    }
}
