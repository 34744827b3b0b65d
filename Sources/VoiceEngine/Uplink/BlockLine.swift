internal import VoiceRealtime

/// What goes with a processed block.
struct BlockMoment: BitwiseCopyable {
    /// When its first frame was at the ADC.
    var adcTime: MonotonicTime
    /// By how much the processor delayed it, frames.
    var delayFrames: Int
    /// RMS, dBFS; -127 where it is muted.
    var level: Float
    var hasVoice: Bool
    /// Whether the speech detector took it for no speech; false where nobody looked.
    var isVoiceless = false
    /// Whether any of it is not muted.
    var isAudible: Bool
    /// Whether it is sent; set by the gate.
    var isSent = true
    /// Whether it is silence behind what was said, which the room gets and nobody here; set by the gate.
    var isRest = false
}

/// A delay line of processed blocks, the oldest first. All memory is allocated in `init`.
@safe
struct BlockLine: ~Copyable {
    private let blockFrames: Int
    /// How many blocks fit.
    let capacity: Int
    private let samples: UnsafeMutablePointer<Float>
    private let moments: UnsafeMutablePointer<BlockMoment>
    private var first = 0
    private(set) var count = 0

    /// An empty line of `capacity` blocks of this length.
    init(blockFrames: Int, capacity: Int) {
        self.blockFrames = blockFrames
        self.capacity = capacity
        unsafe samples = .allocate(capacity: capacity * blockFrames)
        unsafe samples.initialize(repeating: 0, count: capacity * blockFrames)
        unsafe moments = .allocate(capacity: capacity)
        let moment = BlockMoment(
            adcTime: MonotonicTime(nanoseconds: 0), delayFrames: 0, level: -127, hasVoice: false, isAudible: false)
        unsafe moments.initialize(repeating: moment, count: capacity)
    }

    deinit {
        unsafe samples.deallocate()
        unsafe moments.deallocate()
    }

    /// What goes with the block that `index` others are older than.
    subscript(index: Int) -> BlockMoment {
        precondition(index >= 0 && index < count)
        return unsafe moments[(first + index) % capacity]
    }

    /// Appends a block; there must be room for it.
    mutating func append(_ block: Span<Float>, _ moment: BlockMoment) {
        precondition(count < capacity)
        let place = (first + count) % capacity
        for index in 0..<blockFrames { unsafe samples[place * blockFrames + index] = block[index] }
        unsafe moments[place] = moment
        count += 1
    }

    /// Takes the oldest block; there must be one.
    mutating func takeFirst(into block: inout MutableSpan<Float>) -> BlockMoment {
        precondition(count > 0)
        let place = first
        for index in 0..<blockFrames { unsafe block[index] = samples[place * blockFrames + index] }
        removeFirst(1)
        return unsafe moments[place]
    }

    /// Removes the oldest blocks, so many.
    mutating func removeFirst(_ blocks: Int) {
        precondition(blocks <= count)
        first = (first + blocks) % capacity
        count -= blocks
    }
}
