/// The last quarter of a second read of an utterance, so that it can go on a little before where it was held. Allocates
/// when made and never after.
@safe
struct SpeechHistory: ~Copyable {
    /// 250 ms at 48 kHz, as `BargeInStages.rewind` allows.
    static var capacity: Int { @_noLocks @_noAllocation get { 12_000 } }

    private let frames: UnsafeMutablePointer<Float>
    private var next = 0
    /// How many frames it has.
    private(set) var count = 0

    init() {
        unsafe frames = .allocate(capacity: Self.capacity)
        unsafe frames.initialize(repeating: 0, count: Self.capacity)
    }

    deinit { unsafe frames.deallocate() }

    @_noLocks @_noAllocation
    mutating func forget() { count = 0 }

    @_noLocks @_noAllocation
    mutating func append(_ piece: borrowing MutableSpan<Float>) {
        var index = 0
        while index < piece.count {
            unsafe frames[next] = piece[index]
            next &+= 1
            if next == Self.capacity { next = 0 }
            index &+= 1
        }
        count = min(count &+ piece.count, Self.capacity)
    }

    /// Reads from the frame that lies `back` before the next one, 0 to ``count``.
    @_noLocks @_noAllocation
    func read(back: Int, into output: inout MutableSpan<Float>) {
        var place = next &- back
        if place < 0 { place &+= Self.capacity }
        var index = 0
        while index < output.count {
            unsafe output[index] = frames[place]
            place &+= 1
            if place == Self.capacity { place = 0 }
            index &+= 1
        }
    }
}

/// How a far end is heard while somebody speaks into it.
enum SpeechDelivery: BitwiseCopyable {
    /// Quieter by this factor, within so many frames.
    case ducked(Float, frames: Int)
    /// Silent, and kept.
    case held
    /// As it is, within so many frames, from `rewind` frames before where it was held.
    case whole(rewind: Int, frames: Int)
    /// What was begun is dropped; what comes then is heard as it is, within so many frames.
    case givenUp(frames: Int)
}
