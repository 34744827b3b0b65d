/// Samples in one block of memory made once.
@safe struct SoundStorage: ~Copyable {
    let capacity: Int
    private let samples: UnsafeMutablePointer<Float>

    init(capacity: Int) {
        self.capacity = capacity
        unsafe samples = .allocate(capacity: capacity)
        unsafe samples.initialize(repeating: 0, count: capacity)
    }

    deinit { unsafe samples.deallocate() }

    subscript(index: Int) -> Float {
        get {
            precondition(index >= 0 && index < capacity)
            return unsafe samples[index]
        }
        set {
            precondition(index >= 0 && index < capacity)
            unsafe samples[index] = newValue
        }
    }

    /// Some of the samples, to read.
    @_lifetime(borrow self)
    func span(_ range: Range<Int>) -> Span<Float> {
        precondition(range.lowerBound >= 0 && range.upperBound <= capacity)
        let span = unsafe Span(_unsafeStart: samples + range.lowerBound, count: range.count)
        return unsafe _overrideLifetime(span, borrowing: self)
    }

    /// Some of the samples, to write.
    @_lifetime(&self)
    mutating func mutableSpan(_ range: Range<Int>) -> MutableSpan<Float> {
        precondition(range.lowerBound >= 0 && range.upperBound <= capacity)
        let span = unsafe MutableSpan(_unsafeStart: samples + range.lowerBound, count: range.count)
        return unsafe _overrideLifetime(span, mutating: &self)
    }

    /// Copies samples within the block; the ranges may overlap.
    mutating func move(_ range: Range<Int>, to start: Int) {
        precondition(range.lowerBound >= 0 && range.upperBound <= capacity)
        precondition(start >= 0 && start + range.count <= capacity)
        unsafe UnsafeMutableRawPointer(samples + start).copyMemory(
            from: samples + range.lowerBound, byteCount: range.count * MemoryLayout<Float>.stride)
    }

    /// Copies samples of another block into this one.
    mutating func write(_ source: borrowing SoundStorage, _ range: Range<Int>, at start: Int) {
        precondition(range.lowerBound >= 0 && range.upperBound <= source.capacity)
        precondition(start >= 0 && start + range.count <= capacity)
        unsafe UnsafeMutableRawPointer(samples + start).copyMemory(
            from: source.samples + range.lowerBound, byteCount: range.count * MemoryLayout<Float>.stride)
    }

    /// Copies samples out of the block to the front of `target` plus `offset`.
    func read(_ range: Range<Int>, into target: inout MutableSpan<Float>, at offset: Int) {
        precondition(range.lowerBound >= 0 && range.upperBound <= capacity)
        precondition(offset >= 0 && offset + range.count <= target.count)
        let source = unsafe UnsafeRawPointer(samples + range.lowerBound)
        unsafe target.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            unsafe (base + offset * MemoryLayout<Float>.stride).copyMemory(
                from: source, byteCount: range.count * MemoryLayout<Float>.stride)
        }
    }
}
