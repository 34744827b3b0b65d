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
        #expect(status.contains("SigBlk:\t0000000000000000\n"), "\(status)")
        #expect(status.contains("SigIgn:\t0000000000000000\n"), "\(status)")
    }
}
