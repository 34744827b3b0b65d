internal import VoiceRealtime

/// The time of one run of the pipeline: when it began, and how far it has come.
///
/// On the media thread a run takes real time, which is part of the latency. In simulated time it takes none, and no
/// clock is read.
struct RunClock: BitwiseCopyable {
    /// When the run began.
    let start: MonotonicTime
    private let isLive: Bool

    /// A run that began at `start`; `isLive` where time goes on during it.
    init(start: MonotonicTime, isLive: Bool) {
        self.start = start
        self.isLive = isLive
    }

    /// The time now.
    var now: MonotonicTime { isLive ? .now() : start }
}
