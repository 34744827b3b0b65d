import Testing

@testable import VoiceRealtime

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

    /// Whether the page of an address is locked (proc(5): `lo` among the flags in /proc/self/smaps).
    private static func isLocked(_ address: UInt) -> Bool {
        guard let file = unsafe fopen("/proc/self/smaps", "r") else { return false }
        defer { unsafe fclose(file) }
        // Longer than the path of a mapped file.
        var line = [CChar](repeating: 0, count: 8_192)
        var isInside = false
        while unsafe fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let words = text.split(whereSeparator: \.isWhitespace)
            guard let first = words.first else { continue }
            // A mapping begins with its addresses; what is told of it follows.
            let ends = first.split(separator: "-").compactMap { UInt($0, radix: 16) }
            if ends.count == 2 { isInside = ends[0] <= address && address < ends[1] }
            if isInside, first == "VmFlags:" { return words.contains("lo") }
        }
        return false
    }

    /// What mlock(2) answers where the limit or the system does not allow it.
    private static func isOfSystem(_ refusal: Int32) -> Bool { [EAGAIN, ENOMEM, EPERM].contains(refusal) }

    @Test("a ring's memory is, as it is made, or the refusal is told")
    func rings() {
        _ = RealtimeLimits.takeRingLockRefusal()
        // Far more than what others, who run beside this test, lock or let go of.
        let slots = 4_096
        let before = Self.lockedKibibytes()
        let ring = PacketRing(minimumSlots: slots)
        let after = Self.lockedKibibytes()
        let refusal = RealtimeLimits.takeRingLockRefusal()
        #expect(refusal.map(Self.isOfSystem) ?? (after - before > slots * 1_500 / 1_024 / 2))
        #expect(RealtimeLimits.takeRingLockRefusal() == nil)
        _ = consume ring
    }

    @Test("a ring of frames is, through both of its mappings and with its times, or the refusal is told")
    func frames() throws {
        _ = RealtimeLimits.takeRingLockRefusal()
        let ring = try FrameRing(minimumCapacity: 65_536)
        let refusal = RealtimeLimits.takeRingLockRefusal()
        let samples = unsafe ring.producer.samples
        let marks = unsafe ring.producer.marks
        let (first, times) = (UInt(bitPattern: samples), UInt(bitPattern: marks))
        let second = first + UInt(ring.producer.capacity * MemoryLayout<Float>.stride)
        for (name, address) in [("sound", first), ("its second mapping", second), ("times", times)] {
            #expect(refusal.map(Self.isOfSystem) ?? Self.isLocked(address), "\(name)")
        }
        _ = consume ring
    }
}
