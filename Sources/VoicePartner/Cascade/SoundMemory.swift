package import VoiceEngine

/// The last of what the near end said, by when it was at the microphone: a turn is known to have begun only after it
/// has.
package struct SoundMemory: Sendable {
    /// What is kept: the longest turn, and what comes before it.
    package static let capacity = Duration.seconds(60)

    private var frames: [SoundFrame] = []
    private var first = 0

    package init() {}

    /// What it holds, also of what is older.
    var keptFrames: Int { frames.count }

    /// Adds the next frame.
    package mutating func append(_ frame: SoundFrame) {
        frames.append(frame)
        while frames[first].time < frame.time - Self.capacity { first += 1 }
        // Moves what is kept once for each time that it was filled.
        if first > frames.count / 2 {
            frames.removeFirst(first)
            first = 0
        }
    }

    /// The frames that began at `start` or later.
    package func frames(from start: Duration) -> ArraySlice<SoundFrame> {
        var index = frames.count
        while index > first, frames[index - 1].time >= start { index -= 1 }
        return frames[index...]
    }
}
