import VoiceRealtime

/// What has passed one port of a device: samples counted from the device's start, with the time that each was in the
/// air.
struct ProbeRecording {
    private(set) var samples: [Float] = []
    /// The number of the first of ``samples``.
    private(set) var firstFrame = 0
    /// Of all that ever passed.
    private(set) var level = HeardLevel()
    /// The times of some of the frames, in order; the others lie between at the nominal rate.
    private var marks: [(frame: Int, time: MonotonicTime)] = []

    /// The number of the next frame to come.
    var endFrame: Int { firstFrame + samples.count }

    /// Takes the next frames, the first of which was in the air at `time`.
    mutating func append(_ frames: Span<Float>, time: MonotonicTime) {
        marks.append((endFrame, time))
        level.add(frames)
        for index in frames.indices { samples.append(frames[index]) }
    }

    /// Frames before `frame` are not asked for any more.
    mutating func forget(before frame: Int) {
        let count = min(max(frame - firstFrame, 0), samples.count)
        samples.removeFirst(count)
        firstFrame += count
        // The mark before the first frame is the one that tells its time.
        if let first = marks.lastIndex(where: { $0.frame <= firstFrame }) { marks.removeFirst(first) }
    }

    /// When the sound at `position`, between frames as well, was in the air, in nanoseconds of the monotonic clock; nil
    /// before any sound.
    func nanoseconds(at position: Double) -> Double? {
        guard let mark = marks.last(where: { Double($0.frame) <= position }) ?? marks.first else { return nil }
        return Double(mark.time.nanoseconds) + (position - Double(mark.frame)) * 1e9 / 48_000
    }

    /// The frame that was in the air at `nanoseconds`, or would be at the nominal rate; nil before any sound.
    func frame(at nanoseconds: Double) -> Int? {
        guard let mark = marks.last(where: { Double($0.time.nanoseconds) <= nanoseconds }) ?? marks.first else {
            return nil
        }
        return mark.frame + Int(((nanoseconds - Double(mark.time.nanoseconds)) * 48_000 / 1e9).rounded(.down))
    }
}
