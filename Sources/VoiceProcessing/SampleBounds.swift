import VoiceSignal

/// Keeps out of the processing what is no sound. One sample of it would else stay in averages and filters for good.
enum SampleBounds {
    /// 6 dB over full scale: more than any converter makes, and little enough for a canceller to get over.
    static let limit: Float = 2

    /// What is no number becomes silence, what is beyond the limit that.
    @inline(__always)
    static func bounded(_ sample: Float) -> Float { sample.isNaN ? 0 : min(limit, max(-limit, sample)) }

    /// The same for a block in place.
    static func bound(_ samples: inout MutableSpan<Float>) {
        for index in 0..<samples.count { samples[index] = bounded(samples[index]) }
    }
}

extension RealVector {
    /// Writes a whole span from `first` on, within ``SampleBounds``.
    mutating func write(bounded samples: Span<Float>, at first: Int = 0) {
        for index in 0..<samples.count { self[first + index] = SampleBounds.bounded(samples[index]) }
    }
}
