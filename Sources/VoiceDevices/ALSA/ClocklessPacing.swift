internal import VoiceRealtime

/// Holds a device that has no clock of its own to the monotonic clock, and leaves every other alone.
///
/// Alsa-lib's null and file PCMs take and give as fast as they are asked, which at SCHED_FIFO would stop the machine.
struct ClocklessPacing {
    /// How far a real clock may be off: 1 %, where the worst sound cards are off by 0.1 %.
    static var toleranceDivisor: Int { @_noLocks @_noAllocation get { 100 } }

    let format: StreamFormat

    /// How long to wait, in nanoseconds, after `frames` frames within `elapsedNanoseconds` of the stream's start, of
    /// which `lead` may be moved ahead of their time (playback: those that are queued); 0 for every device with a
    /// clock, however long it runs and however late it is served.
    func pause(frames: Int, lead: Int, elapsedNanoseconds: Int64) -> Int64 {
        let due = nanoseconds(of: frames - lead)
        let jitter = 2 * nanoseconds(of: format.periodFrames)
        let ahead = due - elapsedNanoseconds - elapsedNanoseconds / Int64(Self.toleranceDivisor)
        return ahead > jitter ? ahead : 0
    }

    private func nanoseconds(of frames: Int) -> Int64 {
        MonotonicTime(nanoseconds: 0).advanced(byFrames: frames, sampleRate: format.sampleRate).nanoseconds
    }
}
