/// A block of frames at a fixed place in memory.
@safe
struct Block: ~Copyable {
    private let frames: UnsafeMutableBufferPointer<Float>

    init(frames count: Int) {
        unsafe frames = .allocate(capacity: count)
        unsafe frames.initialize(repeating: 0)
    }

    deinit { unsafe frames.deallocate() }

    @_lifetime(borrow self)
    borrowing func read() -> Span<Float> {
        let span = unsafe Span(_unsafeElements: UnsafeBufferPointer(frames))
        return unsafe _overrideLifetime(span, borrowing: self)
    }

    @_lifetime(&self)
    mutating func write() -> MutableSpan<Float> {
        let span = unsafe MutableSpan(_unsafeElements: frames)
        return unsafe _overrideLifetime(span, mutating: &self)
    }
}
