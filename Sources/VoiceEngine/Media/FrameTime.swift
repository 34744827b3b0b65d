internal import VoiceRealtime

/// Inside, sound is at 48 kHz: here, and nowhere else in the engine, its frames become time and time becomes frames.
extension Duration {
    /// How long `frames` last, rounded down to nanoseconds.
    init(frames: Int) {
        self = MonotonicTime(nanoseconds: 0).advanced(byFrames: frames, sampleRate: 48_000).sinceEpoch
    }

    /// The nearest whole number of frames: what ``init(frames:)`` was given comes back.
    var frames: Int {
        MonotonicTime(nanoseconds: nanoseconds).frames(since: MonotonicTime(nanoseconds: 0), sampleRate: 48_000)
    }

    /// Whole nanoseconds, the rest cut off.
    var nanoseconds: Int64 { components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000 }
}
