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
        unsafe block.withUnsafeBufferPointer { source in
            // Of a block longer than the history only its end can stay.
            let skipped = max(0, source.count - capacity)
            guard let first = source.baseAddress else { return }
            var done = skipped
            while done < source.count {
                let place = Int(truncatingIfNeeded: end + Int64(done)) & (capacity - 1)
                let run = min(source.count - done, capacity - place)
                unsafe UnsafeMutableRawPointer(frames + place).copyMemory(
                    from: first + done, byteCount: run * MemoryLayout<Float>.stride)
                done += run
            }
        }
        end += Int64(block.count)
    }

    /// Copies `output.count` frames from `first` on; what is not there, or outside `stretch`, is silence.
    ///
    /// - Returns: frames that were missing.
    func read(
        from first: Int64, within stretch: Range<Int64> = 0..<Int64.max, into output: inout MutableSpan<Float>
    ) -> Int {
        let count = Int64(output.count)
        let low = max(start, stretch.lowerBound, first)
        let high = max(low, min(end, stretch.upperBound, first + count))
        let frames = unsafe self.frames
        let capacity = self.capacity
        unsafe output.withUnsafeMutableBufferPointer { target in
            guard let to = target.baseAddress else { return }
            let known = low < first + count ? Int(low - first)..<Int(high - first) : target.count..<target.count
            for index in 0..<known.lowerBound { unsafe to[index] = 0 }
            for index in known.upperBound..<target.count { unsafe to[index] = 0 }
            var done = known.lowerBound
            while done < known.upperBound {
                let place = Int(truncatingIfNeeded: first + Int64(done)) & (capacity - 1)
                let run = min(known.upperBound - done, capacity - place)
                unsafe UnsafeMutableRawPointer(to + done).copyMemory(
                    from: frames + place, byteCount: run * MemoryLayout<Float>.stride)
                done += run
            }
        }
        return Int(count - max(0, min(high, first + count) - min(low, first + count)))
    }

    /// The same into the first `count` places of a vector.
    func read(from first: Int64, count: Int, into vector: inout RealVector) {
        var all = vector.mutableSpan
        var output = all._mutatingExtracting(0..<count)
        _ = read(from: first, into: &output)
    }
}
