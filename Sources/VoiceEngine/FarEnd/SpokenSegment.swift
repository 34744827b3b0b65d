package import VoiceRealtime

/// Frames of an utterance that left the DAC one after the other.
package struct SpokenSegment: BitwiseCopyable, Equatable, Sendable {
    /// ``UtteranceID/rawValue``.
    package var utterance: UInt32
    /// The first of them, counted from the utterance's beginning, in frames of 48 kHz.
    package var firstFrame: Int
    /// How many there are.
    package var frames: Int
    /// When the first of them leaves the DAC.
    package var time: MonotonicTime

    @_noLocks @_noAllocation
    init(utterance: UInt32 = 0, firstFrame: Int = 0, frames: Int = 0, time: MonotonicTime) {
        self.utterance = utterance
        self.firstFrame = firstFrame
        self.frames = frames
        self.time = time
    }

    /// When what follows them leaves the DAC.
    package var end: MonotonicTime {
        @_noLocks @_noAllocation get { time.advanced(byFrames: frames, sampleRate: 48_000) }
    }
}
