/// The sound of a sink in frames of 10 or 20 ms, as it comes; ends when the sink is closed or the engine stops.
///
/// It keeps a ``ParticipantSink`` or ``SoundPointTap`` open. One iterator at a time, and not beside a caller of the
/// sink's `take`: each frame goes to one of them.
public struct SoundFrames: AsyncSequence, Sendable {
    /// How long a frame is.
    public enum FrameDuration: Int, Sendable {
        /// 10 ms.
        case milliseconds10 = 10
        /// 20 ms.
        case milliseconds20 = 20
    }

    let line: SinkLine
    let milliseconds: Int
    /// The sink, where it ends when it is let go: not before its sound is no longer iterated.
    let sink: any AnyObject & Sendable

    /// Iterates over the frames from now on.
    public func makeAsyncIterator() -> Iterator {
        Iterator(line: line, frames: line.rate.rawValue / 1_000 * milliseconds, sink: sink)
    }

    /// Waits for one frame after the other.
    public struct Iterator: AsyncIteratorProtocol {
        let line: SinkLine
        let frames: Int
        let sink: any AnyObject & Sendable

        /// The next frame; nil at the end, or where the task is cancelled.
        public mutating func next() async -> SoundFrame? {
            var samples = [Float](repeating: 0, count: frames)
            var filled = 0
            var frame = SoundFrame(samples: [], time: .zero, isAfterGap: false)
            while filled < frames {
                var whole = samples.mutableSpan
                var rest = whole._mutatingExtracting(filled..<frames)
                let take = line.take(into: &rest, continuing: filled > 0)
                if filled == 0 { (frame.time, frame.isAfterGap) = (take.time, take.isAfterGap) }
                filled += take.frames
                // What stands before a gap ends in silence.
                if take.isBeforeGap { break }
                guard filled < frames else { break }
                guard !line.waiters.isOver, !Task.isCancelled else { return nil }
                let wanted = (frames - filled) * line.rate.ratio
                let cells = line.cells
                await line.waiters.wait { cells.wantedSound = wanted }
            }
            frame.samples = samples
            return withExtendedLifetime(sink) { frame }
        }
    }
}

/// Sound of 10 or 20 ms.
public struct SoundFrame: Sendable {
    /// Mono, full scale ±1, at the sink's rate.
    public var samples: [Float]
    /// The time of the first of them: at the ADC for the near end, at the DAC for a participant; on the monotonic clock
    /// since its epoch.
    public var time: Duration
    /// Whether sound is missing before them: dropped because nobody took it, or not there.
    public var isAfterGap: Bool

    package init(samples: [Float], time: Duration, isAfterGap: Bool) {
        (self.samples, self.time, self.isAfterGap) = (samples, time, isAfterGap)
    }
}
