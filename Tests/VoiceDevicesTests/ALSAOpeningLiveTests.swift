import Synchronization
import Testing
import VoiceRealtime

@testable import VoiceDevices

@Suite("Opening of sound devices")
struct ALSAOpeningLiveTests {
    /// A device whose opening hangs until it is let go.
    private final class Gate: Sendable {
        let letGo: WakeSignal
        let discarded: WakeSignal
        private let count = Atomic<Int>(0)

        init() throws {
            letGo = try WakeSignal()
            discarded = try WakeSignal()
        }

        var openings: Int { count.load(ordering: .acquiring) }

        @Sendable func open() -> Int {
            letGo.wait(timeout: .seconds(60))
            return count.add(1, ordering: .acquiringAndReleasing).newValue
        }

        @Sendable func discard(_ number: Int) { discarded.signal() }
    }

    private func open(
        _ name: String, limit: Duration, _ gate: Gate
    ) -> Result<Int, DeviceError> {
        Result { () throws(DeviceError) in
            try ALSAOpening.run(name, .capture, limit: limit, discard: gate.discard) { () throws(DeviceError) in
                gate.open()
            }
        }
    }

    private func hangs(_ result: Result<Int, DeviceError>) -> Bool {
        if case .failure(.io(let message)) = result { message.contains("hangs") } else { false }
    }

    @Test("One that hangs is left behind and not tried again, what it opens late is closed, and then it can be opened")
    func hanging() throws {
        let gate = try Gate()
        #expect(hangs(open("hanging", limit: .milliseconds(20), gate)))
        // At once, and without another thread.
        #expect(hangs(open("hanging", limit: .seconds(60), gate)))
        #expect(gate.openings == 0)
        gate.letGo.signal()
        #expect(gate.discarded.wait(timeout: .seconds(60)))
        var opened: Int?
        let limit = MonotonicTime.now().nanoseconds + 60_000_000_000
        while opened == nil, MonotonicTime.now().nanoseconds < limit {
            gate.letGo.signal()
            opened = try? open("hanging", limit: .seconds(60), gate).get()
            if opened == nil { gate.discarded.wait(timeout: .milliseconds(10)) }
        }
        #expect(opened == 2)
    }

    @Test("One that opened too late is waited for longer the next time, and so it can be used at last")
    func slow() throws {
        let gate = try Gate()
        #expect(hangs(open("slow", limit: .milliseconds(20), gate)))
        gate.letGo.signal()
        #expect(gate.discarded.wait(timeout: .seconds(60)))
        // When it takes as long each time
        let pause = try WakeSignal()
        var opened: Int?
        let limit = MonotonicTime.now().nanoseconds + 60_000_000_000
        while opened == nil, MonotonicTime.now().nanoseconds < limit {
            opened = try? ALSAOpening.run("slow", .capture, limit: .milliseconds(1), discard: { (_: Int) in }) {
                () throws(DeviceError) -> Int in
                pause.wait(timeout: .milliseconds(100))
                return 7
            }
        }
        #expect(opened == 7)
    }

    /// A thread, as long as there is one.
    private final class Watch {
        weak var thread: RealtimeThread?
    }

    @Test("A thread that was left behind is let go when it ends, by itself")
    func leftBehind() throws {
        let letGo = try WakeSignal()
        let watch = Watch()
        do {
            let thread = try DeviceThread(name: "hanging", priority: 0, stop: StopRequest()) { _ in
                letGo.wait(timeout: .seconds(60))
            }
            watch.thread = thread.thread
            #expect(!thread.stop(limit: .milliseconds(10)))
        }
        #expect(watch.thread != nil)
        letGo.signal()
        let pause = try WakeSignal()
        let limit = MonotonicTime.now().nanoseconds + 60_000_000_000
        while watch.thread != nil, MonotonicTime.now().nanoseconds < limit { pause.wait(timeout: .milliseconds(1)) }
        #expect(watch.thread == nil)
    }

    @Test("What it throws is thrown, and nothing is taken for hanging")
    func refusal() throws {
        for _ in 0..<2 {
            #expect(throws: DeviceError.permissionDenied(name: "refused")) {
                try ALSAOpening.run("refused", .playback, discard: { (_: Int) in }) { () throws(DeviceError) -> Int in
                    throw .permissionDenied(name: "refused")
                }
            }
        }
    }
}
