import Testing
import VoiceRealtime

@Suite("WakeSignal")
struct WakeSignalLiveTests {
    @Test("a signal before the wait is not lost, and several count as one")
    func before() throws {
        let signal = try WakeSignal()
        signal.signal()
        signal.handle.signal()
        #expect(signal.wait(timeout: .seconds(60)))
        #expect(!signal.wait(timeout: .zero))
    }

    @Test(
        "without a signal the wait ends by itself",
        arguments: [Duration.zero, .microseconds(1), .milliseconds(2), .seconds(-1)])
    func timeout(timeout: Duration) throws {
        let signal = try WakeSignal()
        let start = MonotonicTime.now()
        #expect(!signal.wait(timeout: timeout))
        #expect(MonotonicTime.now().sinceEpoch - start.sinceEpoch >= timeout)
    }

    @Test("wakes a thread that waits, however long it would have waited", .timeLimit(.minutes(1)))
    func fromAnotherThread() throws {
        let request = try WakeSignal()
        let answer = try WakeSignal()
        let thread = try RealtimeThread(name: "wake-test", priority: 0, wake: request) { flag in
            while true {
                request.wait(timeout: .seconds(Int64.max))
                if flag.isRaised { return }
                answer.signal()
            }
        }
        for _ in 0..<1_000 {
            request.signal()
            #expect(answer.wait(timeout: .seconds(60)))
        }
        thread.stop()
    }
}
