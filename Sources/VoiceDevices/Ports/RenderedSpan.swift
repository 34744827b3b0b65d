package import VoiceRealtime

/// Frames of the playout ring that were handed to the device together.
package struct RenderedSpan: BitwiseCopyable, Sendable {
    /// The first of them, counted from the first frame ever written to the ring.
    package var firstFrame: Int
    /// How many there are.
    package var frames: Int
    /// When the first of them leaves the DAC.
    package var dacTime: MonotonicTime

    /// Frames that leave the DAC one after the other from `dacTime` on.
    @_noLocks @_noAllocation
    package init(firstFrame: Int, frames: Int, dacTime: MonotonicTime) {
        self.firstFrame = firstFrame
        self.frames = frames
        self.dacTime = dacTime
    }
}
