import Synchronization
import Testing

@testable import VoiceRealtime

#if canImport(Glibc)
    import Glibc
#endif

/// Both ends of every ring are ~Copyable: `let second = ring.producer` after the first is a compile error, so a second
/// producer needs no test at run time. What is left to test is that two ends free one ring once.
@Suite("The ends of a ring free it once", .serialized)
struct RingOwnershipLiveTests {
    /// A size that no other test uses, by which the ring's two mappings are told apart from others of this process.
    private static let bytes = 8 << 20

    /// How many mappings of a ring of `bytes` the process has.
    private static func mappings(of bytes: Int = bytes) -> Int {
        guard let file = unsafe fopen("/proc/self/maps", "r") else { return -1 }
        defer { unsafe fclose(file) }
        var line = [CChar](repeating: 0, count: 4_096)
        var count = 0
        while unsafe fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard text.contains("duplexvoice-ring") else { continue }
            let bounds = text.prefix { $0 != " " }.split(separator: "-").compactMap { UInt(String($0), radix: 16) }
            if bounds.count == 2, bounds[1] - bounds[0] == UInt(bytes) { count += 1 }
        }
        return count
    }

    @Test("a frame ring's memory is there until its second end is gone, in either order", arguments: [true, false])
    func frameRing(producerFirst: Bool) throws {
        let before = Self.mappings()
        try useFrameRing(producerFirst: producerFirst, before: before)
        #expect(Self.mappings() == before)
    }

    private func useFrameRing(producerFirst: Bool, before: Int) throws {
        let ring = try FrameRing(minimumCapacity: Self.bytes / MemoryLayout<Float>.stride)
        var producer = ring.producer
        let consumer = ring.consumer
        #expect(Self.mappings() == before + 2)
        if producerFirst {
            let count = producer.acquire(100).count
            producer.commit(count, time: MonotonicTime(nanoseconds: 0))
            drop(producer)
            #expect(Self.mappings() == before + 2)
            // What was committed outlives the producer
            #expect(consumer.available == 100)
            drop(consumer)
        } else {
            drop(consumer)
            #expect(Self.mappings() == before + 2)
            let count = producer.acquire(100).count
            producer.commit(count, time: MonotonicTime(nanoseconds: 0))
            drop(producer)
        }
    }

    private func drop<End: ~Copyable>(_ end: consuming End) {}

    @Test("only the second release says that it was the last")
    func release() {
        let indices = unsafe RingIndices.make()
        unsafe expectEqual(RingIndices.release(indices), false)
        unsafe expectEqual(RingIndices.release(indices), true)
        unsafe RingIndices.free(indices)
    }

    @Test("each end's index lies on cache lines of its own")
    func layout() {
        #expect(MemoryLayout<RingIndices>.size > 2 * RingIndices.alignment)
        let indices = unsafe RingIndices.make()
        defer { unsafe RingIndices.free(indices) }
        let base = UInt(bitPattern: indices)
        #expect(base % UInt(RingIndices.alignment) == 0)
        // Write through each index and see which words of the structure change.
        let words = unsafe UnsafeRawPointer(indices).assumingMemoryBound(to: Int.self)
        unsafe indices.pointee.written.store(-7, ordering: .relaxed)
        unsafe indices.pointee.read.store(-9, ordering: .relaxed)
        let count = MemoryLayout<RingIndices>.size / MemoryLayout<Int>.stride
        let written = (0..<count).first { unsafe words[$0] == -7 } ?? -1
        let read = (0..<count).first { unsafe words[$0] == -9 } ?? -1
        #expect(written == 0)
        #expect(read * MemoryLayout<Int>.stride == RingIndices.alignment)
    }

    @Test("both ends may be dropped at the same moment on two threads")
    func together() throws {
        // Of another size than above, and small, since each is filled once
        let bytes = 1 << 20
        let before = Self.mappings(of: bytes)
        for _ in 0..<500 {
            let frames = try FrameRing(minimumCapacity: bytes / MemoryLayout<Float>.stride)
            let packets = PacketRing(minimumSlots: 4)
            let values = ValueRing<Int>(minimumCapacity: 4)
            let triple = TripleBuffer(1)
            let thread = try RealtimeThread(
                name: "dropper", priority: 0,
                state: Ends(
                    frames: frames.producer, packets: packets.producer, values: values.producer, triple: triple.writer)
            ) { _, _ in }
            drop(frames.consumer)
            drop(packets.consumer)
            drop(values.consumer)
            drop(triple.reader)
            thread.stop()
        }
        #expect(Self.mappings(of: bytes) == before, "a frame ring that both let go of is still mapped")
    }

    private struct Ends: ~Copyable, Sendable {
        var frames: FrameProducer
        var packets: PacketProducer
        var values: ValueProducer<Int>
        var triple: TripleBufferWriter<Int>
    }
}
