import VoiceSignal

/// The last frames of the reference, addressed by their number since the beginning.
struct ReferenceHistory: ~Copyable {
    let capacity: Int
    /// One past the newest frame.
    private(set) var end: Int64 = 0
    private var frames: RealVector

    /// - Parameter capacity: frames that are kept at least; rounded up to a power of two.
    init(capacity: Int) {
        var rounded = 1
        while rounded < capacity { rounded *= 2 }
        self.capacity = rounded
        frames = RealVector(count: rounded)
    }

    /// The oldest frame that is still there.
    var start: Int64 { max(0, end - Int64(capacity)) }

    private func place(of frame: Int64) -> Int { Int(truncatingIfNeeded: frame) & (capacity - 1) }

    mutating func append(_ block: Span<Float>) {
        // Of a block longer than the history only its end can stay.
        var done = max(0, block.count - capacity)
        while done < block.count {
            let place = place(of: end + Int64(done))
            let run = min(block.count - done, capacity - place)
            frames.write(block.extracting(done..<done + run), at: place)
            done += run
        }
        end += Int64(block.count)
    }

    /// Copies `output.count` frames from `first` on; what is not there, or outside `stretch`, is silence.
    ///
    /// - Returns: frames that were missing.
    func read(
        from first: Int64, within stretch: Range<Int64> = 0..<Int64.max, into output: inout MutableSpan<Float>
    ) -> Int {
        let count = output.count
        let low = min(max(start, stretch.lowerBound, first), first + Int64(count))
        let high = max(low, min(end, stretch.upperBound, first + Int64(count)))
        let known = Int(low - first)..<Int(high - first)
        for index in 0..<known.lowerBound { output[index] = 0 }
        for index in known.upperBound..<count { output[index] = 0 }
        var done = known.lowerBound
        while done < known.upperBound {
            let place = place(of: first + Int64(done))
            let run = min(known.upperBound - done, capacity - place)
            for index in 0..<run { output[done + index] = frames[place + index] }
            done += run
        }
        return count - known.count
    }

    /// The same into the first `count` places of a vector.
    func read(from first: Int64, count: Int, into vector: inout RealVector) {
        var all = vector.mutableSpan
        var output = all._mutatingExtracting(0..<count)
        _ = read(from: first, into: &output)
    }
}
