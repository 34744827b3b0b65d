import Glibc
import TestCases
import Testing

/// What the tests of all modules run programs with: it must not hang, whatever a program does.
@Suite("Programs that tests run")
struct TestProgramLiveTests {
    private static let shell = "/bin/sh"

    @Test("Given one that never ends, when its time is up, then it is killed, and what it wrote is there")
    func limit() throws {
        let program = try TestProgram(Self.shell, ["-c", "echo begun; sleep 1000"], limit: .seconds(3))
        #expect(program.nextOutput() == Array("begun\n".utf8))
        #expect(program.nextOutput() == nil)
        #expect(program.wait().status == -SIGKILL)
        #expect(!program.isRunning)
    }

    @Test("Given one that leaves another behind, when it ends, then its end is told at once, and the other ends too")
    func group() throws {
        let ended = try TestProgram.run(Self.shell, ["-c", "sleep 1000 & echo $!; exit 3"])
        #expect(ended.status == 3)
        let left = try #require(pid_t(ended.text.dropLast()))
        // It holds the output that is read here; killed, it may not have come to its end yet, and then wait for its
        // parent to take note.
        let deadline = ContinuousClock.now + .seconds(20)
        var state = try Self.state(of: left)
        while let now = state, now != "Z", ContinuousClock.now < deadline {
            usleep(10_000)
            state = try Self.state(of: left)
        }
        #expect(state == nil || state == "Z", "\(state ?? "")")
    }

    /// Of a process, as `ps` has it; nil where there is none.
    private static func state(of process: pid_t) throws -> String? {
        let read = try TestProgram.run("/usr/bin/cut", ["-d", " ", "-f", "3", "/proc/\(process)/stat"])
        return read.status == 0 ? String(read.text.dropLast()) : nil
    }

    @Test("Given more than a pipe holds on both outputs, then all of it is kept")
    func much() throws {
        let script = "head -c 1000000 /dev/zero >&2; head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2"
        let ended = try TestProgram.run(Self.shell, ["-c", script])
        #expect((ended.status, ended.output.count, ended.errors.count) == (0, 1_000_000, 2_000_000))
    }

    @Test("Given one that reads, then it reads what is written and its end; writing to one that has ended does nothing")
    func input() throws {
        let program = try TestProgram("/bin/cat", input: .written)
        program.write("one\n")
        #expect(program.nextOutput() == Array("one\n".utf8))
        program.closeInput()
        #expect(program.wait().status == 0)
        program.write("two\n")
    }

    @Test("Given files open here, then it has none of them, and its folder and variables are those asked for")
    func surroundings() throws {
        let descriptors = unsafe [open("/dev/null", O_RDONLY), open("/dev/null", O_RDONLY)]
        defer { for descriptor in descriptors { close(descriptor) } }
        let script = "ls /proc/$$/fd; pwd; echo $GREETING; echo complaint >&2"
        let ended = try TestProgram.run(
            Self.shell, ["-c", script], environment: ["PATH": "/usr/bin:/bin", "GREETING": "hello"], in: "/usr",
            errors: .withOutput)
        #expect(ended.text == "0\n1\n2\n/usr\nhello\ncomplaint\n")
    }

    @Test("Given a path where nothing is, then it says so")
    func missing() {
        #expect(throws: TestProgram.NotStarted.self) { try TestProgram("/nonexistent") }
    }
}
