import Glibc

/// The last frames of the reference, addressed by their number since the beginning.
@safe
struct ReferenceHistory: ~Copyable {
    let capacity: Int
    /// One past the newest frame.
    private(set) var end: Int64 = 0
    private let frames: UnsafeMutablePointer<Float>

    /// - Parameter capacity: frames that are kept at least; rounded up to a power of two.
    init(capacity: Int) {
        var rounded = 1
        while rounded < capacity { rounded *= 2 }
        self.capacity = rounded
        unsafe frames = .allocate(capacity: rounded)
        unsafe frames.initialize(repeating: 0, count: rounded)
    }

    deinit { unsafe frames.deallocate() }

    /// The oldest frame that is still there.
    var start: Int64 { max(0, end - Int64(capacity)) }

    mutating func append(_ block: Span<Float>) {
        for index in 0..<block.count {
            unsafe frames[Int(truncatingIfNeeded: end) & (capacity - 1)] = block[index]
            end += 1
        }
    }

    /// Copies `output.count` frames from `first` on; what is not there, or outside `stretch`, is silence.
    ///
    /// - Returns: frames that were missing.
    func read(
        from first: Int64, within stretch: Range<Int64> = 0..<Int64.max, into output: inout MutableSpan<Float>
    ) -> Int {
        let known = max(start, stretch.lowerBound)..<max(start, stretch.lowerBound, min(end, stretch.upperBound))
        var missing = 0
        for index in 0..<output.count {
            let frame = first + Int64(index)
            if known.contains(frame) {
                output[index] = unsafe frames[Int(truncatingIfNeeded: frame) & (capacity - 1)]
            } else {
                output[index] = 0
                missing += 1
            }
        }
        return missing
    }

    /// The same into a block.
    func read(from first: Int64, into block: inout Block) -> Int {
        var output = block.write()
        return read(from: first, into: &output)
    }
}
