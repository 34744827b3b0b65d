internal import VoiceRealtime

/// Holds a device that has no clock of its own to the monotonic clock, and leaves every other alone.
///
/// Alsa-lib's null and file PCMs take and give as fast as they are asked, which at SCHED_FIFO would stop the machine.
struct ClocklessPacing {
    /// How far a real clock may be off: 1 %, where the worst sound cards are off by 0.1 %.
    private static let toleranceDivisor: Int64 = 100

    let format: StreamFormat

    /// How long to wait, in nanoseconds, after `frames` frames within `elapsedNanoseconds` of the stream's start; 0 for
    /// every device with a clock, however long it runs and however late it is served.
    func pause(frames: Int, elapsedNanoseconds: Int64) -> Int64 {
        let due = nanoseconds(of: frames - format.bufferFrames)
        let jitter = 2 * nanoseconds(of: format.periodFrames)
        let ahead = due - elapsedNanoseconds - elapsedNanoseconds / Self.toleranceDivisor
        return ahead > jitter ? ahead : 0
    }

    private func nanoseconds(of frames: Int) -> Int64 {
        MonotonicTime(nanoseconds: 0).advanced(byFrames: frames, sampleRate: format.sampleRate).nanoseconds
    }
}
