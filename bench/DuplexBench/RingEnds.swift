import VoiceRealtime

#if canImport(Glibc)
    import Glibc
#endif

/// Both ends of a Swift ring, and the loops that bench/CRing has in C.
final class RingEnds {
    private var producer: FrameProducer
    private var consumer: FrameConsumer

    init(_ producer: consuming FrameProducer, _ consumer: consuming FrameConsumer) {
        self.producer = producer
        self.consumer = consumer
    }

    /// Pushes `block` and pops it into `out`, `count` times. Returns the sum of the times.
    func pushPop(_ block: Span<Float>, _ out: inout [Float], count: Int) -> Int64 {
        var target = out.mutableSpan
        return Self.pushPop(block, &target, count, &producer, &consumer)
    }

    /// The same through the calls that copy by themselves.
    func writeRead(_ block: Span<Float>, _ out: inout [Float], count: Int) -> Int64 {
        var target = out.mutableSpan
        return Self.writeRead(block, &target, count, &producer, &consumer)
    }

    @inline(never)
    private static func pushPop(
        _ block: Span<Float>, _ out: inout MutableSpan<Float>, _ count: Int, _ producer: inout FrameProducer,
        _ consumer: inout FrameConsumer
    ) -> Int64 {
        var times: Int64 = 0
        for i in 0..<count {
            _ = push(block, at: i, into: &producer)
            _ = pop(from: &consumer, into: &out, times: &times)
        }
        return times
    }

    @inline(never)
    private static func writeRead(
        _ block: Span<Float>, _ out: inout MutableSpan<Float>, _ count: Int, _ producer: inout FrameProducer,
        _ consumer: inout FrameConsumer
    ) -> Int64 {
        var times: Int64 = 0
        for i in 0..<count {
            _ = producer.write(block, time: MonotonicTime(nanoseconds: Int64(i)))
            times &+= consumer.nextTime().nanoseconds
            _ = consumer.read(into: &out)
        }
        return times
    }

    // Annotated as the engine's own real-time code is, so that the compiler vouches for what is measured.
    @_noLocks @_noAllocation
    @inline(__always)
    private static func push(_ block: Span<Float>, at number: Int, into producer: inout FrameProducer) -> Bool {
        var room = producer.acquire(block.count)
        guard room.count == block.count else { return false }
        let source = unsafe block.withUnsafeBytes { unsafe $0 }
        unsafe room.withUnsafeMutableBytes { unsafe $0.copyMemory(from: source) }
        producer.commit(block.count, time: MonotonicTime(nanoseconds: Int64(number)))
        return true
    }

    @_noLocks @_noAllocation
    @inline(__always)
    private static func pop(
        from consumer: inout FrameConsumer, into out: inout MutableSpan<Float>, times: inout Int64
    ) -> Bool {
        var there = consumer.acquire(out.count)
        guard there.count == out.count else { return false }
        let source = unsafe there.withUnsafeMutableBytes { UnsafeRawBufferPointer($0) }
        unsafe out.withUnsafeMutableBytes { unsafe $0.copyMemory(from: source) }
        times &+= consumer.nextTime().nanoseconds
        consumer.release(out.count)
        return true
    }

    // MARK: Two threads

    /// With fewer cores than threads the other end may need this one's.
    private static let spinsBeforeYield = 1_000

    /// Spins until `count` blocks are in the ring.
    static func push(_ block: Span<Float>, into producer: inout FrameProducer, count: Int) {
        var spins = 0
        var i = 0
        while i < count {
            if push(block, at: i, into: &producer) {
                i += 1
            } else {
                spins += 1
                if spins % spinsBeforeYield == 0 { sched_yield() }
            }
        }
    }

    /// Spins until `count` blocks are out of the ring. Returns the sum of the times.
    static func pop(from consumer: inout FrameConsumer, into out: inout [Float], count: Int) -> Int64 {
        var target = out.mutableSpan
        var times: Int64 = 0
        var spins = 0
        var i = 0
        while i < count {
            if pop(from: &consumer, into: &target, times: &times) {
                i += 1
            } else {
                spins += 1
                if spins % spinsBeforeYield == 0 { sched_yield() }
            }
        }
        return times
    }
}
