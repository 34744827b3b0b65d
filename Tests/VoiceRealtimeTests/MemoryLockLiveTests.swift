import Testing
import VoiceRealtime

#if canImport(Glibc)
    import Glibc
#endif

@Suite("What is locked in memory", .serialized)
struct MemoryLockLiveTests {
    /// Memory of this process that is locked (proc(5)), KiB.
    private static func lockedKibibytes() -> Int {
        guard let file = unsafe fopen("/proc/self/status", "r") else { return -1 }
        defer { unsafe fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while unsafe fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if text.hasPrefix("VmLck:") { return Int(text.filter(\.isNumber)) ?? 0 }
        }
        return 0
    }

    @Test("a ring's memory is, as it is made, or the refusal is told")
    func rings() {
        _ = RealtimeLimits.takeRingLockRefusal()
        // Far more than what others, who run beside this test, lock or let go of.
        let slots = 4_096
        let before = Self.lockedKibibytes()
        let ring = PacketRing(minimumSlots: slots)
        let after = Self.lockedKibibytes()
        let refusal = RealtimeLimits.takeRingLockRefusal()
        #expect(refusal != nil || after - before > slots * 1_500 / 1_024 / 2)
        #expect(RealtimeLimits.takeRingLockRefusal() == nil)
        _ = consume ring
    }
}
