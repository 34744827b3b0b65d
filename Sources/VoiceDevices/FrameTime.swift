internal import VoiceRealtime

/// How long `frames` frames at `sampleRate` Hz last, in nanoseconds, rounded down; exact for years, where the product
/// of frames and a billion would overflow within 53 hours at 48 kHz. Real-time safe.
@_noLocks @_noAllocation
func frameNanoseconds(_ frames: Int, sampleRate: Int) -> Int64 {
    let (seconds, rest) = (frames / sampleRate, frames % sampleRate)
    return Int64(seconds) * 1_000_000_000 + Int64(rest) * 1_000_000_000 / Int64(sampleRate)
}

extension MonotonicTime {
    /// The time `frames` 48 kHz frames after the start of a stream, which may have been running for very long.
    /// Real-time safe.
    @_noLocks @_noAllocation
    func afterStart(frames: Int) -> MonotonicTime {
        MonotonicTime(nanoseconds: nanoseconds + frameNanoseconds(frames, sampleRate: 48_000))
    }
}
