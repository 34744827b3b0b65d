package import VoiceEngine

/// The last of what the near end said, by when it was at the microphone: a turn is known to have begun only after it
/// has.
package struct SoundMemory: Sendable {
    /// What is kept: the longest turn, and what comes before it.
    package static let capacity = Duration.seconds(60)
    /// Frames at most, however slowly their times rise: a minute of 10 ms each.
    static let frameLimit = 6_000

    private var frames: [SoundFrame] = []
    private var first = 0

    package init() {}

    /// What it holds, also of what is older.
    var keptFrames: Int { frames.count }

    /// Adds the next frame. One that is not later than the last has another clock, as that of another device: what would
    /// be later by it is forgotten. Whether so.
    @discardableResult
    package mutating func append(_ frame: SoundFrame) -> Bool {
        var isBack = false
        while frames.count > first, let last = frames.last, last.time >= frame.time {
            frames.removeLast()
            isBack = true
        }
        frames.append(frame)
        while frames[first].time < frame.time - Self.capacity || frames.count - first > Self.frameLimit { first += 1 }
        // Moves what is kept once for each time that it was filled.
        if first > frames.count / 2 {
            frames.removeFirst(first)
            first = 0
        }
        return isBack
    }

    /// The frames that began at `start` or later.
    package func frames(from start: Duration) -> ArraySlice<SoundFrame> {
        var index = frames.count
        while index > first, frames[index - 1].time >= start { index -= 1 }
        return frames[index...]
    }
}
