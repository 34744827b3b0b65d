internal import VoiceRealtime

extension FrameProducer {
    /// Copies what fits of `frames` into the ring; unlike `write(_:time:)` for a `Span` it leaves it to the caller to
    /// count the rest.
    ///
    /// Takes a `MutableSpan` because the compiler's real-time checks reject a `Span` that is made on the spot.
    @_noLocks @_noAllocation
    mutating func write(_ frames: borrowing MutableSpan<Float>, time: MonotonicTime) -> Int {
        let taken = copy(frames)
        commit(taken, time: time)
        return taken
    }

    @_noLocks @_noAllocation
    private mutating func copy(_ frames: borrowing MutableSpan<Float>) -> Int {
        var room = acquire(frames.count)
        let count = room.count
        var index = 0
        while index < count {
            room[index] = frames[index]
            index += 1
        }
        return count
    }

    /// Writes `frames` frames of silence; false where they do not all fit, and none is written.
    @_noLocks @_noAllocation
    mutating func writeSilence(_ frames: Int, time: MonotonicTime) -> Bool {
        guard silence(frames) else { return false }
        commit(frames, time: time)
        return true
    }

    @_noLocks @_noAllocation
    private mutating func silence(_ frames: Int) -> Bool {
        var room = acquire(frames)
        guard room.count == frames else { return false }
        var index = 0
        while index < frames {
            room[index] = 0
            index += 1
        }
        return true
    }
}
