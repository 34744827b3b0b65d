internal import VoiceRealtime

/// Decides what becomes of sound that the microphone's thread was too late for.
///
/// A little is handed on in a burst: nothing is lost by it. What is older than the limit is of no use to the far end
/// any more, which has long concealed it, and would only fill its jitter buffer: it is skipped down to the newest whole
/// period, and counted.
///
/// Pure: reads no clock.
struct CaptureBacklog: Equatable, BitwiseCopyable, Sendable {
    let format: StreamFormat
    /// Frames beyond the period that is due that are still handed on.
    let limitFrames: Int

    /// The frames to skip, in whole periods, of `available` that lie in the device's buffer. `moved` have been taken
    /// since the stream's start, `elapsedNanoseconds` ago.
    ///
    /// A device that claims more frames than its clock can have counted since then (alsa-lib's null and file PCMs,
    /// which have none) is not late, whatever lies there.
    @_noLocks @_noAllocation
    func excess(available: Int, moved: Int, elapsedNanoseconds: Int64) -> Int {
        let period = format.periodFrames
        guard available > period + limitFrames else { return 0 }
        let possible = MonotonicTime(nanoseconds: elapsedNanoseconds).frames(
            since: MonotonicTime(nanoseconds: 0), sampleRate: format.sampleRate)
        guard moved + available <= possible + possible / ClocklessPacing.toleranceDivisor + 2 * period else { return 0 }
        return (available - period) / period * period
    }
}
