import Glibc
import Testing

@testable import VoicePartner

@Suite("A program of the system that is run")
struct ChildProgramTests {
    @Test("Signals end it, also where the thread that started it blocks them")
    func signals() throws {
        // Given a thread that leaves a signal to others
        var (before, blocked) = (sigset_t(), sigset_t())
        unsafe sigemptyset(&blocked)
        unsafe sigaddset(&blocked, SIGTERM)
        unsafe pthread_sigmask(SIG_BLOCK, &blocked, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        // When it starts a program
        let program = try ChildProgram("cat", ["/proc/self/status"], input: [])
        let status = String(decoding: program.read(8_192), as: UTF8.self)
        // Then that blocks none, and ignores none
        #expect(Self.signals("SigBlk:", in: status) == 0, "\(status)")
        #expect(Self.signals("SigIgn:", in: status) == 0, "\(status)")
    }

    /// Those of a line of /proc/PID/status, the first at bit 0; without 32 and 33, which the C library has for itself.
    private static func signals(_ name: String, in status: String) -> UInt64? {
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
        return line.flatMap { UInt64($0.dropFirst(name.count + 1), radix: 16) }.map { $0 & 0x7FFF_FFFF }
    }
}
