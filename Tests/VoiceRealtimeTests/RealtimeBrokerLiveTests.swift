import CLinuxRealtime
import Synchronization
import Testing
import VoiceRealtime

#if canImport(Glibc)
    import Glibc
#endif

@Suite("Who may grant priority where the kernel does not permit it", .serialized)
struct RealtimeBrokerLiveTests {
    /// What the last broker was asked; a C function has no other memory.
    private static let thread = Atomic<Int>(0)
    private static let priority = Atomic<Int>(0)
    private static let asked = Atomic<Int>(0)

    /// What the body saw of itself.
    private final class Report: Sendable {
        let identifier = Atomic<Int>(0)
        let askedBefore = Atomic<Int>(-1)
    }

    /// The kernel's number of the calling thread: what `/proc/thread-self` ends with.
    private static func ownNumber() -> Int {
        var path = [CChar](repeating: 0, count: 64)
        guard unsafe readlink("/proc/thread-self", &path, path.count - 1) > 0 else { return -1 }
        let text = String(decoding: path.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return Int(text.split(separator: "/").last ?? "") ?? -1
    }

    private func started(priority: Int, asking broker: @escaping dv_realtime_broker) throws -> (RealtimeThread, Report)
    {
        Self.asked.store(0, ordering: .releasing)
        let report = Report()
        let thread = try RealtimeThread(name: "brokered", priority: priority, asking: broker) { _ in
            report.askedBefore.store(Self.asked.load(ordering: .acquiring), ordering: .releasing)
            report.identifier.store(Self.ownNumber(), ordering: .releasing)
        }
        thread.stop()
        return (thread, report)
    }

    private static let grant: dv_realtime_broker = { thread, priority in
        RealtimeBrokerLiveTests.thread.store(Int(thread), ordering: .releasing)
        RealtimeBrokerLiveTests.priority.store(Int(priority), ordering: .releasing)
        RealtimeBrokerLiveTests.asked.add(1, ordering: .acquiringAndReleasing)
        return 15
    }

    private static let refuse: dv_realtime_broker = { _, _ in
        RealtimeBrokerLiveTests.asked.add(1, ordering: .acquiringAndReleasing)
        return 0
    }

    @Test("is asked for the thread itself, before its body begins; and what is granted is told")
    func granted() throws {
        let (thread, report) = try started(priority: 72, asking: Self.grant)
        #expect(thread.scheduling == .realtime(priority: 15))
        #expect(Self.priority.load(ordering: .acquiring) == 72)
        #expect(report.askedBefore.load(ordering: .acquiring) == 1)
        #expect(report.identifier.load(ordering: .acquiring) == Self.thread.load(ordering: .acquiring))
    }

    @Test("may refuse: the thread runs all the same, and says so")
    func refused() throws {
        let (thread, report) = try started(priority: 60, asking: Self.refuse)
        #expect(thread.scheduling == .ordinaryAfterRefusal(errno: EPERM))
        #expect(report.askedBefore.load(ordering: .acquiring) == 1)
        #expect(report.identifier.load(ordering: .acquiring) != 0)
    }

    @Test("is not asked by a thread that wants no priority")
    func unasked() throws {
        let (thread, report) = try started(priority: 0, asking: Self.grant)
        #expect(thread.scheduling == .ordinary)
        #expect(report.askedBefore.load(ordering: .acquiring) == 0)
    }

    @Test("a limit that is lower than what is asked for is taken, in the same order")
    func limit() {
        #expect([55, 60, 71, 72].map { dv_permitted_priority($0, 95) } == [55, 60, 71, 72])
        #expect([55, 60, 71, 72].map { dv_permitted_priority($0, 65) } == [55, 60, 65, 65])
        #expect(dv_permitted_priority(72, 10) == 10)
        #expect(dv_permitted_priority(72, 0) == 0)
    }

    @Test("the engine's priorities keep their order on RealtimeKit's scale of 20")
    func scale() {
        // Network, media, capture, playback.
        #expect([55, 60, 71, 72].map { dv_scaled_priority($0, 20) } == [11, 12, 14, 15])
        #expect((1...99).allSatisfy { (1...20).contains(Int(dv_scaled_priority(Int32($0), 20))) })
        #expect(dv_scaled_priority(99, 20) == 20)
        #expect(dv_scaled_priority(0, 20) == 0)
        #expect(dv_scaled_priority(50, 0) == 0)
    }
}
