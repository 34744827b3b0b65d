internal import VoiceRealtime

/// Inside, sound is at 48 kHz.
extension Duration {
    /// How long `frames` last, rounded down to nanoseconds.
    init(frames: Int) {
        self = MonotonicTime(nanoseconds: 0).advanced(byFrames: frames, sampleRate: 48_000).sinceEpoch
    }

    /// The nearest whole number of frames: what ``init(frames:)`` was given comes back.
    var frames: Int {
        MonotonicTime(nanoseconds: nanoseconds).frames(since: MonotonicTime(nanoseconds: 0), sampleRate: 48_000)
    }
}
