internal import CLinuxRealtime
public import Synchronization

#if canImport(Glibc)
    internal import Glibc
#endif

/// A ring of Float frames with the time of each, from one thread to one other.
///
/// Overflow: the producer gets less room than it asked for; what it then leaves out is the *newest*, and it counts that
/// with ``FrameProducer/drop(_:)``. The memory is mapped twice in a row, so that an acquired span is never split at the
/// end of the ring. Both ends are `~Copyable`: a second producer or consumer does not compile.
@frozen
public struct FrameRing: ~Copyable {
    /// The end that writes. Move it to its thread.
    public var producer: FrameProducer
    /// The end that reads. Move it to its thread.
    public var consumer: FrameConsumer

    /// A ring that holds at least `minimumCapacity` frames of `sampleRate` Hz; the capacity is a power of two and at
    /// least a page. Not real-time safe.
    public init(minimumCapacity: Int, sampleRate: Int = 48_000) throws(RingError) {
        precondition(minimumCapacity > 0 && sampleRate > 0)
        let pageFrames = dv_page_size() / MemoryLayout<Float>.stride
        let capacity = max(minimumCapacity.roundedUpToPowerOfTwo, pageFrames)
        guard let memory = unsafe dv_mirrored_map(capacity * MemoryLayout<Float>.stride) else {
            throw .memoryRefused(errno: errno)
        }
        let samples = unsafe memory.bindMemory(to: Float.self, capacity: 2 * capacity)
        let indices = unsafe RingIndices.make()
        let marks = unsafe LockedPages.allocate(FrameMark.self, count: FrameMark.slots)
        unsafe marks.initialize(repeating: FrameMark(), count: FrameMark.slots)
        let markIndices = unsafe RingIndices.make()
        unsafe producer = FrameProducer(
            indices: indices, samples: samples, capacity: capacity, marks: marks, markIndices: markIndices)
        unsafe consumer = FrameConsumer(
            indices: indices, samples: samples, capacity: capacity, marks: marks, markIndices: markIndices,
            sampleRate: sampleRate)
    }

    static func release(
        _ indices: UnsafeMutablePointer<RingIndices>, _ samples: UnsafeMutablePointer<Float>, _ capacity: Int,
        _ marks: UnsafeMutablePointer<FrameMark>, _ markIndices: UnsafeMutablePointer<RingIndices>
    ) {
        guard unsafe RingIndices.release(indices) else { return }
        unsafe dv_mirrored_unmap(samples, capacity * MemoryLayout<Float>.stride)
        unsafe LockedPages.free(marks, count: FrameMark.slots)
        unsafe RingIndices.free(markIndices)
        unsafe RingIndices.free(indices)
    }
}

/// Which time belongs to which frame of the ring: one mark for each commit.
@usableFromInline
struct FrameMark: BitwiseCopyable {
    /// How many commits may lie unread before further marks are left out: 512 of the shortest usual period, 32 frames,
    /// are 16,384 frames.
    @inlinable static var slots: Int { @_noLocks @_noAllocation get { 512 } }

    @usableFromInline var frame = 0
    @usableFromInline var time = MonotonicTime(nanoseconds: 0)
    @usableFromInline init() {}
}

/// The writing end of a ``FrameRing``. Every method but the initializer and deinitializer is real-time safe and
/// wait-free.
@safe @frozen
public struct FrameProducer: ~Copyable, @unchecked Sendable {
    @usableFromInline let indices: UnsafeMutablePointer<RingIndices>
    @usableFromInline let samples: UnsafeMutablePointer<Float>
    @usableFromInline let marks: UnsafeMutablePointer<FrameMark>
    @usableFromInline let markIndices: UnsafeMutablePointer<RingIndices>
    /// How many frames the ring holds.
    public let capacity: Int
    /// This end's own copies, so that it seldom touches the other end's cache line.
    @usableFromInline var written = 0
    @usableFromInline var readSeen = 0
    @usableFromInline var marksWritten = 0
    @usableFromInline var marksReadSeen = 0

    init(
        indices: UnsafeMutablePointer<RingIndices>, samples: UnsafeMutablePointer<Float>, capacity: Int,
        marks: UnsafeMutablePointer<FrameMark>, markIndices: UnsafeMutablePointer<RingIndices>
    ) {
        unsafe self.indices = indices
        unsafe self.samples = samples
        unsafe self.marks = marks
        unsafe self.markIndices = markIndices
        self.capacity = capacity
    }

    deinit {
        unsafe FrameRing.release(indices, samples, capacity, marks, markIndices)
    }

    /// How many frames lie unread.
    @inlinable
    public var fill: Int {
        @_noLocks @_noAllocation get { unsafe written - indices.pointee.read.load(ordering: .acquiring) }
    }

    /// How many frames have been given back by the consumer so far.
    @inlinable
    public var takenFrames: Int {
        @_noLocks @_noAllocation get { unsafe indices.pointee.read.load(ordering: .acquiring) }
    }

    /// The `frames` frames that were handed over last, to look at only: nobody but this end changes them. Fewer where
    /// the ring holds fewer.
    @_lifetime(borrow self)
    @inlinable
    public func latest(_ frames: Int) -> Span<Float> {
        let count = min(max(frames, 0), min(written, capacity))
        let span = unsafe Span<Float>(_unsafeStart: samples + ((written &- count) & (capacity - 1)), count: count)
        return unsafe _overrideLifetime(span, borrowing: self)
    }

    /// Writes `frames` over those from frame `first` on that were handed over and not read yet. False where some of
    /// them were read, or never written.
    ///
    /// Whoever does so knows that the consumer has not come so far: a replay, on one thread.
    package mutating func amend(_ frames: Span<Float>, from first: Int) -> Bool {
        guard first >= takenFrames, first <= written, frames.count <= written - first else { return false }
        for index in frames.indices { unsafe samples[(first + index) & (capacity - 1)] = frames[index] }
        return true
    }

    /// How many frames have been handed over so far.
    @inlinable
    public var writtenFrames: Int {
        @_noLocks @_noAllocation get { written }
    }

    /// Room for up to `frames` frames, to be filled and then handed over with ``commit(_:time:)``; shorter where the
    /// ring is nearly full.
    @_noLocks @_noAllocation
    @_lifetime(&self)
    @inlinable
    public mutating func acquire(_ frames: Int) -> MutableSpan<Float> {
        let count = room(frames)
        let span = unsafe MutableSpan<Float>(_unsafeStart: samples + (written & (capacity - 1)), count: count)
        return unsafe _overrideLifetime(span, mutating: &self)
    }

    /// How many of `frames` frames there is room for.
    @_noLocks @_noAllocation
    @inlinable
    mutating func room(_ frames: Int) -> Int {
        if capacity &- (written &- readSeen) < frames {
            readSeen = unsafe indices.pointee.read.load(ordering: .acquiring)
        }
        return min(max(frames, 0), capacity &- (written &- readSeen))
    }

    /// Hands the first `frames` acquired frames to the consumer. `time` is that of the first of them. To commit more
    /// than was acquired is a programming error.
    @_noLocks @_noAllocation
    @inlinable
    public mutating func commit(_ frames: Int, time: MonotonicTime) {
        guard frames > 0 else { return }
        precondition(frames <= capacity &- (written &- readSeen), "committed more than was acquired")
        if marksWritten &- marksReadSeen == FrameMark.slots {
            marksReadSeen = unsafe markIndices.pointee.read.load(ordering: .acquiring)
        }
        if marksWritten &- marksReadSeen < FrameMark.slots {
            let slot = unsafe marks + (marksWritten & (FrameMark.slots - 1))
            unsafe slot.pointee.frame = written
            unsafe slot.pointee.time = time
            marksWritten &+= 1
            unsafe markIndices.pointee.written.store(marksWritten, ordering: .releasing)
        }
        written &+= frames
        unsafe indices.pointee.written.store(written, ordering: .releasing)
    }

    /// Copies what fits of `frames` into the ring and counts the rest as dropped. Returns how many were taken.
    @_noLocks @_noAllocation
    @inlinable
    public mutating func write(_ frames: Span<Float>, time: MonotonicTime) -> Int {
        let taken = room(frames.count)
        if taken > 0 {
            // The span is not the ring's own memory, so the copy cannot overlap; its pointer is used before the borrow
            // ends.
            let source = unsafe frames.withUnsafeBufferPointer { $0.baseAddress }
            let target = unsafe UnsafeMutableRawPointer(samples + (written & (capacity - 1)))
            unsafe target.copyMemory(from: source.unsafelyUnwrapped, byteCount: taken * MemoryLayout<Float>.stride)
        }
        commit(taken, time: time)
        if taken < frames.count { drop(frames.count - taken) }
        return taken
    }

    /// Counts frames that the producer had to leave out because the ring was full.
    @_noLocks @_noAllocation
    @inlinable
    public mutating func drop(_ frames: Int) {
        unsafe indices.pointee.dropped.wrappingAdd(frames, ordering: .relaxed)
    }

    /// How many frames have been left out so far.
    @inlinable
    public var droppedFrames: Int {
        @_noLocks @_noAllocation get { unsafe indices.pointee.dropped.load(ordering: .relaxed) }
    }
}

/// The reading end of a ``FrameRing``. Every method but the deinitializer is real-time safe and wait-free.
@safe @frozen
public struct FrameConsumer: ~Copyable, @unchecked Sendable {
    @usableFromInline let indices: UnsafeMutablePointer<RingIndices>
    @usableFromInline let samples: UnsafeMutablePointer<Float>
    @usableFromInline let marks: UnsafeMutablePointer<FrameMark>
    @usableFromInline let markIndices: UnsafeMutablePointer<RingIndices>
    /// How many frames the ring holds.
    public let capacity: Int
    /// The nominal rate at which times between marks are reckoned, in Hz.
    public let sampleRate: Int
    @usableFromInline var read = 0
    @usableFromInline var writtenSeen = 0
    @usableFromInline var marksRead = 0
    @usableFromInline var mark = FrameMark()
    /// Frames from this one on are not seen before the next ``look()``; `max` where that was never called.
    @usableFromInline var horizon = Int.max

    init(
        indices: UnsafeMutablePointer<RingIndices>, samples: UnsafeMutablePointer<Float>, capacity: Int,
        marks: UnsafeMutablePointer<FrameMark>, markIndices: UnsafeMutablePointer<RingIndices>, sampleRate: Int
    ) {
        unsafe self.indices = indices
        unsafe self.samples = samples
        unsafe self.marks = marks
        unsafe self.markIndices = markIndices
        self.capacity = capacity
        self.sampleRate = sampleRate
    }

    deinit {
        unsafe FrameRing.release(indices, samples, capacity, marks, markIndices)
    }

    /// How many frames can be read.
    @inlinable
    public var available: Int {
        @_noLocks @_noAllocation get { writtenFrames &- read }
    }

    /// How many frames have been handed over by the producer so far, as far as this end sees.
    @inlinable
    public var writtenFrames: Int {
        @_noLocks @_noAllocation get {
            let written = unsafe indices.pointee.written.load(ordering: .acquiring)
            return written < horizon ? written : horizon
        }
    }

    /// From now on sees what lies in the ring at this moment, and nothing that comes later until the next look: what is
    /// done between two looks then depends on nobody's timing. Before the first call all is seen as it comes.
    @_noLocks @_noAllocation
    @inlinable
    public mutating func look() {
        horizon = unsafe indices.pointee.written.load(ordering: .acquiring)
    }

    /// How many frames have been given back to the producer so far.
    @inlinable
    public var readFrames: Int {
        @_noLocks @_noAllocation get { read }
    }

    /// The next frames, up to `frames`; they stay in the ring until ``release(_:)`` and may be worked on in place.
    ///
    /// Mutable also because the compiler's real-time checks reject an owned `Span`, which is copyable, and accept a
    /// `MutableSpan`.
    @_noLocks @_noAllocation
    @_lifetime(&self)
    @inlinable
    public mutating func acquire(_ frames: Int) -> MutableSpan<Float> {
        let span = unsafe MutableSpan<Float>(_unsafeStart: samples + (read & (capacity - 1)), count: readable(frames))
        return unsafe _overrideLifetime(span, mutating: &self)
    }

    /// How many of the next `frames` frames are there.
    @_noLocks @_noAllocation
    @inlinable
    mutating func readable(_ frames: Int) -> Int {
        if writtenSeen &- read < frames { writtenSeen = writtenFrames }
        return min(max(frames, 0), writtenSeen &- read)
    }

    /// The next frames, up to `frames`, or those `offset` places ahead, to look at only; they stay in the ring until
    /// ``release(_:)``. Wait-free, but not for code that the compiler is to prove: see ``acquire(_:)``.
    @_lifetime(borrow self)
    @inlinable
    public func peek(_ frames: Int, ahead offset: Int = 0) -> Span<Float> {
        let count = min(max(frames, 0), max(available - offset, 0))
        let span = unsafe Span<Float>(_unsafeStart: samples + ((read &+ offset) & (capacity - 1)), count: count)
        return unsafe _overrideLifetime(span, borrowing: self)
    }

    /// The commit with this number, counted from the first: its first frame and that one's time. Nil where it is not
    /// there yet; one whose frames are read may be gone, and must not be asked for.
    package func commit(_ number: Int) -> (frame: Int, time: MonotonicTime)? {
        guard unsafe number < markIndices.pointee.written.load(ordering: .acquiring) else { return nil }
        let mark = unsafe marks[number & (FrameMark.slots - 1)]
        return (mark.frame, mark.time)
    }

    /// Gives the first `frames` acquired frames back to the producer. To give back more than was acquired is a
    /// programming error.
    @_noLocks @_noAllocation
    @inlinable
    public mutating func release(_ frames: Int) {
        if writtenSeen &- read < frames { writtenSeen = writtenFrames }
        precondition(frames >= 0 && frames <= writtenSeen &- read, "released more than was there")
        read &+= frames
        unsafe indices.pointee.read.store(read, ordering: .releasing)
    }

    /// Copies up to `target.count` frames out and returns how many.
    @_noLocks @_noAllocation
    @inlinable
    public mutating func read(into target: inout MutableSpan<Float>) -> Int {
        let count = readable(target.count)
        if count > 0 {
            let source = unsafe UnsafeRawPointer(samples + (read & (capacity - 1)))
            let destination = unsafe target.withUnsafeMutableBufferPointer { $0.baseAddress }
            unsafe UnsafeMutableRawPointer(destination.unsafelyUnwrapped).copyMemory(
                from: source, byteCount: count * MemoryLayout<Float>.stride)
        }
        release(count)
        return count
    }

    /// The time of the next unread frame: its commit's time, advanced at the nominal rate. Meaningful once a frame is
    /// available.
    ///
    /// It also gives the marks of frames already read back to the producer, so ask at least once in 512 commits: marks
    /// that find no room are left out, and the times of their frames are reckoned from an older one.
    @_noLocks @_noAllocation
    @inlinable
    public mutating func nextTime() -> MonotonicTime {
        let marksWritten = unsafe markIndices.pointee.written.load(ordering: .acquiring)
        let before = marksRead
        while marksRead < marksWritten {
            let next = unsafe marks[marksRead & (FrameMark.slots - 1)]
            guard next.frame <= read else { break }
            mark = next
            marksRead &+= 1
        }
        if marksRead != before { unsafe markIndices.pointee.read.store(marksRead, ordering: .releasing) }
        // Most reads begin where a commit did; two divisions are spared.
        if mark.frame == read { return mark.time }
        return mark.time.advanced(byFrames: read &- mark.frame, sampleRate: sampleRate)
    }

    /// How many frames the producer had to leave out so far because the ring was full.
    @inlinable
    public var droppedFrames: Int {
        @_noLocks @_noAllocation get { unsafe indices.pointee.dropped.load(ordering: .relaxed) }
    }
}
