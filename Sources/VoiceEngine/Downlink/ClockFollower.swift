internal import VoiceProcessing
internal import VoiceRealtime
internal import VoiceSignal

/// Hands the mix to the playout ring: as it is, or resampled so that the playback device's clock is followed.
///
///     mix, at true time ─► [ 32-tap sinc at a fractional, moving position ] ─► playout ring, at the device's time
///
/// Resampling begins without a seam: the first position lies right behind the last frame that was handed on as it was,
/// and what the filter needs of the past is kept. It delays by the filter's reach, 0.33 ms. Nothing is allocated after
/// `init`.
@safe
struct ClockFollower: ~Copyable {
    /// The longest block.
    private static let longestBlock = 480
    /// What is kept of the past, and what has come and is not passed yet.
    private static let memory = 2 * SincInterpolator.reach + 2

    private let interpolator = SincInterpolator()
    private let frames: UnsafeMutablePointer<Float>
    /// Frames that lie there.
    private var count = memory
    /// Where the next frame to hand on lies among them.
    private var position = Double(memory)

    init() {
        unsafe frames = .allocate(capacity: Self.memory + Self.longestBlock + Self.memory)
        unsafe frames.initialize(repeating: 0, count: Self.memory + Self.longestBlock + Self.memory)
    }

    deinit { unsafe frames.deallocate() }

    /// Frames that have come and not gone on yet.
    var pendingFrames: Double { Double(count) - position }

    /// Hands on what `block` makes complete.
    ///
    /// - Parameters:
    ///   - block: up to 480 frames of true time.
    ///   - driftPPM: how much faster than nominal the device plays; nil to hand the block on as it is.
    ///   - time: of the block, for the ring's mark.
    mutating func pass(_ block: Span<Float>, driftPPM: Double?, to ring: inout FrameProducer, time: MonotonicTime) {
        precondition(block.count <= Self.longestBlock, "a block is 10 ms at most")
        keep(block)
        guard let driftPPM else {
            _ = ring.write(block, time: time)
            position = Double(count)
            return
        }
        let step = 1 / (1 + driftPPM * 1e-6)
        // Up to the last position all of whose neighbours have come.
        let end = Double(count - SincInterpolator.reach)
        let wanted = position < end ? Int(((end - position) / step).rounded(.up)) : 0
        var room = ring.acquire(wanted)
        let given = room.count
        unsafe room.withUnsafeMutableBufferPointer { room in
            guard let output = room.baseAddress else { return }
            unsafe interpolator.read(frames, from: position, step: step, into: output, count: given)
        }
        ring.commit(given, time: time)
        if given < wanted { ring.drop(wanted - given) }
        position += Double(wanted) * step
    }

    /// Appends `block`, and forgets what no position will reach any more.
    private mutating func keep(_ block: Span<Float>) {
        let first = min(Int(position), count) - SincInterpolator.reach
        if first > 0 {
            unsafe UnsafeMutableRawPointer(frames).copyMemory(
                from: frames + first, byteCount: (count - first) * MemoryLayout<Float>.stride)
            count -= first
            position -= Double(first)
        }
        for index in 0..<block.count { unsafe frames[count + index] = block[index] }
        count += block.count
    }
}
