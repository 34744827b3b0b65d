import CAllocationCounter
import Testing
import VoiceRealtime

@Suite("Ring code allocates nothing")
struct AllocationTests {
    /// How many allocations `body` makes on this thread once it has run before; nil where they cannot be counted (under
    /// a sanitizer).
    private func allocations(_ body: () -> Void) -> Int64? {
        body()
        guard let before = RealtimeWatch.allocations else { return nil }
        body()
        return RealtimeWatch.allocations.map { $0 - before }
    }

    private static let isCounted = RealtimeWatch.allocations != nil

    /// Kept out of the tests' sight, so that the optimiser cannot remove the allocation it makes.
    @inline(never)
    private func allocate(_ count: Int) -> [Int] { [Int](repeating: count, count: count) }

    /// Else all tests of allocations would be left out.
    @Test("the counter is there wherever no sanitizer has an allocator of its own")
    func linked() { #expect(Self.isCounted == (dv_heap_bytes() >= 0)) }

    @Test("the counter counts", .enabled(if: isCounted))
    func counter() throws {
        var sum = 0
        let counted = try #require(allocations { for i in 1...10 { sum += allocate(i).count } })
        #expect(counted == 10)
        #expect(sum == 110)
    }

    @Test("pushing and popping frames, times included", .enabled(if: isCounted))
    func frames() throws {
        var ring = try FrameRing(minimumCapacity: 4_096)
        let block = [Float](repeating: 0.5, count: 480)
        var out = [Float](repeating: 0, count: 480)
        let counted = allocations {
            for i in 0..<10_000 {
                _ = ring.producer.write(block.span, time: MonotonicTime(nanoseconds: Int64(i)))
                _ = ring.consumer.nextTime()
                var target = out.mutableSpan
                _ = ring.consumer.read(into: &target)
                var room = ring.producer.acquire(480)
                if !room.isEmpty { room[0] = 1 }
                let count = room.count
                ring.producer.commit(count, time: .now())
                let taken = ring.consumer.acquire(480).count
                ring.consumer.release(taken)
            }
        }
        #expect(counted == 0)
    }

    @Test("packets, values and the latest value", .enabled(if: isCounted))
    func others() {
        var packets = PacketRing(minimumSlots: 8)
        var values = ValueRing<SIMD4<Float>>(minimumCapacity: 8)
        var latest = TripleBuffer(SIMD8<Float>(repeating: 0))
        let packet = [UInt8](repeating: 9, count: 200)
        let counted = allocations {
            for i in 0..<10_000 {
                _ = packets.producer.push(packet.span, tag: PacketTag(time: MonotonicTime(nanoseconds: Int64(i))))
                _ = packets.consumer.acquire().count
                packets.consumer.release()
                values.producer.push(SIMD4(repeating: Float(i)))
                _ = values.consumer.pop()
                latest.writer.publish(SIMD8(repeating: Float(i)))
                _ = latest.reader.latest()
            }
        }
        #expect(counted == 0)
    }

    @Test("signalling", .enabled(if: isCounted))
    func signal() throws {
        let signal = try WakeSignal()
        let handle = signal.handle
        let counted = allocations {
            for _ in 0..<1_000 {
                RealtimeWatch.enter()
                handle.signal()
                RealtimeWatch.exit()
            }
        }
        #expect(counted == 0)
    }
}
