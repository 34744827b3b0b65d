/// A run of pulled frames, and what it stands for.
package struct PlayedSegment: Equatable, Sendable, BitwiseCopyable {
    /// Where sound comes from.
    package enum Origin: UInt8, Sendable, BitwiseCopyable {
        /// The packet that was sent.
        case packet
        /// The copy that a later packet carried.
        case redundancy
        /// Made up, because the sound was lost or late.
        case concealment
        /// Silence or comfort noise: the sender sent nothing.
        case pause
    }

    /// The first frame, counted from the first pull on.
    package internal(set) var firstFrame: Int64
    /// Frames in the run.
    package internal(set) var frames: Int
    /// Unwrapped RTP timestamp of the first frame.
    package internal(set) var firstTimestamp: Int64
    /// Whether the timestamps run on with the frames; else all frames stand at the first one.
    package internal(set) var advances: Bool
    /// Where the run comes from.
    package internal(set) var origin: Origin

    /// The timestamp of a frame of the run.
    package func timestamp(of frame: Int64) -> Int64 {
        advances ? firstTimestamp + (frame - firstFrame) : firstTimestamp
    }

    /// Whether `next` goes on where this run ends.
    fileprivate func isContinued(by next: PlayedSegment) -> Bool {
        let end = firstFrame + Int64(frames)
        return end == next.firstFrame && origin == next.origin && advances == next.advances
            && next.firstTimestamp == timestamp(of: end)
    }
}

/// The runs last pulled, so that what sounds in the loudspeaker now can be told afterwards; the oldest give way.
@safe struct PositionTrail: ~Copyable {
    private let segments: UnsafeMutablePointer<PlayedSegment>
    /// Runs ever noted; the last ``capacity`` are kept.
    private var count = 0

    /// A stretch in every packet of 20 ms makes 150 runs a second.
    private static let capacity = 256

    init() {
        unsafe segments = .allocate(capacity: Self.capacity)
        let nothing = PlayedSegment(firstFrame: 0, frames: 0, firstTimestamp: 0, advances: false, origin: .pause)
        unsafe segments.initialize(repeating: nothing, count: Self.capacity)
    }

    deinit { unsafe segments.deallocate() }

    mutating func reset() { count = 0 }

    mutating func note(_ segment: PlayedSegment) {
        let last = (count + Self.capacity - 1) % Self.capacity
        if count > 0, unsafe segments[last].isContinued(by: segment) {
            unsafe segments[last].frames += segment.frames
        } else {
            unsafe segments[count % Self.capacity] = segment
            count += 1
        }
    }

    /// The run that a pulled frame belongs to; nil where it is forgotten, or not pulled yet.
    func segment(of frame: Int64) -> PlayedSegment? {
        for index in stride(from: count - 1, through: max(0, count - Self.capacity), by: -1) {
            let segment = unsafe segments[index % Self.capacity]
            if frame >= segment.firstFrame {
                return frame < segment.firstFrame + Int64(segment.frames) ? segment : nil
            }
        }
        return nil
    }
}
