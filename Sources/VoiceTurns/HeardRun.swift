/// Frames in a row. On the way to the DAC ``first`` is an RTP timestamp, and ``ringFrame`` and ``scale`` say where they
/// are; behind it, it is a position in ``utterance``, and ``time`` says when they left.
struct HeardRun: BitwiseCopyable {
    var first: UInt32
    var frames: Int
    var isMadeUp: Bool
    var ringFrame = 0.0
    var scale = 1.0
    var utterance = 0 as UInt32
    /// The RTP timestamp of the utterance's position 0, as the last frame has it.
    var origin = 0 as UInt32
    var time = 0 as Int64
    /// The position behind the last frame of the utterance before these that was not made up; 0 where there is none.
    var lastReal = 0
    /// How far the first lies from where the run before ended.
    var jump = 0
    /// Until when made-up sound may go on beneath these, and the last real position before it.
    var blendEnd = Int64.min
    var blendFrom = 0

    @_noLocks @_noAllocation
    init(first: UInt32, frames: Int, isMadeUp: Bool) {
        self.first = first
        self.frames = frames
        self.isMadeUp = isMadeUp
    }

    /// The position behind the last.
    var end: Int { @_noLocks @_noAllocation get { Int(first) &+ frames } }

    /// When what follows the last leaves the DAC.
    var endTime: Int64 { @_noLocks @_noAllocation get { time &+ Int64(Double(frames) * (1e9 / 48_000)) } }

    /// How many whole frames of it lie before a frame of the ring.
    @_noLocks @_noAllocation
    func frames(before ringEnd: Int) -> Int {
        let position = (Double(ringEnd) - ringFrame) / scale
        if position <= 0 { return 0 }
        if position >= Double(frames) { return frames }
        // Rounded up, but for what is an error of rounding.
        return min(Int(position + 0.999_999), frames)
    }

    @_noLocks @_noAllocation
    mutating func drop(_ count: Int) {
        ringFrame += Double(count) * scale
        first &+= UInt32(truncatingIfNeeded: count)
        frames &-= count
    }
}

/// Runs in the order in which they came, in memory that is made once. Overflow: the oldest goes.
@safe
struct HeardRunRing: ~Copyable {
    private let runs: UnsafeMutablePointer<HeardRun>
    private let mask: Int
    private var first = 0
    private(set) var count = 0

    /// - Parameter capacity: a power of two.
    init(capacity: Int) {
        precondition(capacity > 0 && capacity & (capacity &- 1) == 0)
        mask = capacity &- 1
        unsafe runs = .allocate(capacity: capacity)
        unsafe runs.initialize(repeating: HeardRun(first: 0, frames: 0, isMadeUp: false), count: capacity)
    }

    deinit { unsafe runs.deallocate() }

    /// The runs, the oldest being 0.
    subscript(index: Int) -> HeardRun {
        @_noLocks @_noAllocation
        get {
            precondition(index >= 0 && index < count)
            return unsafe runs[(first &+ index) & mask]
        }
        @_noLocks @_noAllocation
        set {
            precondition(index >= 0 && index < count)
            unsafe runs[(first &+ index) & mask] = newValue
        }
    }

    @_noLocks @_noAllocation
    mutating func appendReplacing(_ run: HeardRun) {
        if count > mask { removeFirst() }
        unsafe runs[(first &+ count) & mask] = run
        count &+= 1
    }

    @_noLocks @_noAllocation
    mutating func removeFirst() {
        precondition(count > 0)
        first = (first &+ 1) & mask
        count &-= 1
    }

    @_noLocks @_noAllocation
    mutating func removeAll() { count = 0 }
}
