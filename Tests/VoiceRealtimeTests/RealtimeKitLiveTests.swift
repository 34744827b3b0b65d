import CLinuxRealtime
import Glibc
import Testing

@Suite("RealtimeKit on the system bus", .serialized)
struct RealtimeKitLiveTests {
    /// A process asks for the bus's address once. Where the kernel permits priority, no other test has asked the real
    /// one before.
    private static var isFirst: Bool {
        let library = unsafe dlopen("libdbus-1.so.3", RTLD_NOW)
        return unsafe geteuid() == 0 && library != nil
    }

    /// `RLIMIT_RTTIME`.
    private static let runningTime = __rlimit_resource_t(15)

    @Test(
        "is asked for the thread, on its own scale, once the process limits its threads; and may refuse",
        .enabled(if: isFirst, "libdbus is installed, and has not been asked yet"))
    func asked() throws {
        // Given a bus with RealtimeKit behind it
        let path = "/tmp/rtkit-double-\(getpid())"
        let kit = try RealtimeKitDouble(at: path)
        defer {
            kit.stop()
            _ = unsafe unlink(path)
        }
        _ = unsafe setenv("DBUS_SYSTEM_BUS_ADDRESS", kit.address, 1)
        // When a thread asks for 72 of 99
        #expect(dv_ask_realtime_kit(4_711, 72) == 15)
        // Then RealtimeKit was asked for 15 of its 20, and the process has limited how long its threads may run
        #expect(kit.requests == [RealtimeKitDouble.Request(thread: 4_711, priority: 15)])
        var limit = rlimit()
        #expect(unsafe getrlimit(Self.runningTime, &limit) == 0)
        #expect(limit.rlim_max <= UInt(RealtimeKitDouble.runningLimit))
        // When it refuses
        kit.refuse()
        #expect(dv_ask_realtime_kit(4_712, 60) == 0)
        #expect(kit.requests.count == 2)
    }
}
