import Glibc
import Testing

@testable import duplex

@Suite("Signals that a command takes over")
struct SignalLiveTests {
    /// Whether a signal is ignored, which it is from then on.
    private static func isIgnored(_ number: Int32) -> Bool {
        unsafe unsafeBitCast(signal(number, SIG_IGN), to: Int.self) == 1
    }

    @Test("one that asks for something does not end a command that is already ending, and one that ends does")
    func asked() {
        do { _ = Interruption(others: [SIGUSR2]) }
        #expect(Self.isIgnored(SIGUSR2))
        #expect(!Self.isIgnored(SIGTERM))
        signal(SIGUSR2, SIG_DFL)
        signal(SIGTERM, SIG_DFL)
    }
}
