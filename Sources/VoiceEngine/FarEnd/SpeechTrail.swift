internal import VoiceDevices
internal import VoiceRealtime

/// Which frames of which utterance left the DAC when.
///
///     pull: frames of an utterance ─► frames of the playout ring ─┐
///                                                                 ├─► frames of the utterance, by the DAC's time
///     playback thread: frames of the playout ring ─► DAC's time ──┘
///
/// Nothing is estimated: what the playback thread has not taken has not been heard, whatever the clock says. Nothing is
/// allocated after `init`; what finds no room in it counts as not heard.
struct SpeechTrail: ~Copyable {
    /// Runs on their way to the DAC: a second of half-millisecond pulls at a changing pace.
    private static var waitingCapacity: Int { @_noLocks @_noAllocation get { 2_048 } }
    /// Runs that have left it: some 50 s of a device that drifts by 100 ppm.
    private static var spokenCapacity: Int { @_noLocks @_noAllocation get { 256 } }
    /// Places on the way that are kept for the ends of utterances.
    private static var keptForEnds: Int { @_noLocks @_noAllocation get { 256 } }
    private static var newsCapacity: Int { @_noLocks @_noAllocation get { 256 } }
    /// A run goes on where the one before ended, to a frame.
    private static var tolerance: Int64 { @_noLocks @_noAllocation get { 20_834 } }

    /// Frames that lie in the playout ring, or the end of an utterance.
    private struct Run: BitwiseCopyable {
        var utterance: UInt32
        var isEnd = false
        var isComplete = false
        var firstFrame = 0
        var frames = 0
        /// Where the run lies in the playout ring, and how many of the ring's frames each of its own takes.
        var ringFrame = 0.0
        var scale = 1.0

        @_noLocks @_noAllocation
        init(utterance: UInt32) { self.utterance = utterance }

        /// How many whole frames of the run lie before a frame of the ring.
        @_noLocks @_noAllocation
        func frames(before ringEnd: Int) -> Int {
            let position = (Double(ringEnd) - ringFrame) / scale
            if position <= 0 { return 0 }
            if position >= Double(frames) { return frames }
            // Rounded up, but for what is an error of rounding.
            return min(Int(position + 0.999_999), frames)
        }
    }

    /// The beginning or the end of an utterance, to be told when it has come.
    struct News: BitwiseCopyable {
        var utterance: UInt32
        var isEnd: Bool
        var isComplete: Bool
        var heardFrames: Int
        var time: MonotonicTime

        @_noLocks @_noAllocation
        init(utterance: UInt32, isEnd: Bool, isComplete: Bool, heardFrames: Int, time: MonotonicTime) {
            self.utterance = utterance
            self.isEnd = isEnd
            self.isComplete = isComplete
            self.heardFrames = heardFrames
            self.time = time
        }
    }

    /// On their way to the DAC.
    private var waiting = FixedRing(capacity: waitingCapacity, filler: Run(utterance: 0))
    /// Those that left it last.
    private var spoken = FixedRing(
        capacity: spokenCapacity, filler: SpokenSegment(time: MonotonicTime(nanoseconds: 0)))
    private var news = FixedRing(
        capacity: newsCapacity,
        filler: News(
            utterance: 0, isEnd: false, isComplete: false, heardFrames: 0, time: MonotonicTime(nanoseconds: 0)))
    /// Of the utterance whose runs leave the ring now: frames that have left the DAC, or will, and when the last of
    /// them has.
    private(set) var heardFrames = 0
    private var heardEnd: MonotonicTime?
    /// What follows the furthest frame of it that was heard: what is repeated counts once.
    private var reached = 0

    // MARK: On the way to the DAC

    /// Notes frames that were pulled: where they lie in the playout ring, and how many of its frames each takes.
    @_noLocks @_noAllocation
    mutating func pulled(_ utterance: UInt32, firstFrame: Int, frames: Int, ringFrame: Double, scale: Double) {
        if waiting.count > 0 {
            let last = waiting.count &- 1
            var run = waiting[last]
            if !run.isEnd, run.utterance == utterance, run.scale == scale, run.firstFrame &+ run.frames == firstFrame,
                run.ringFrame + Double(run.frames) * scale == ringFrame
            {
                run.frames &+= frames
                waiting[last] = run
                return
            }
        }
        // Places are kept for the ends.
        guard waiting.room > Self.keptForEnds else { return }
        var run = Run(utterance: utterance)
        (run.firstFrame, run.frames, run.ringFrame, run.scale) = (firstFrame, frames, ringFrame, scale)
        waiting.append(run)
    }

    /// Notes that nothing more comes of an utterance.
    @_noLocks @_noAllocation
    mutating func ended(_ utterance: UInt32, isComplete: Bool) {
        var run = Run(utterance: utterance)
        (run.isEnd, run.isComplete) = (true, isComplete)
        waiting.append(run)
    }

    // MARK: At the DAC

    /// Takes what the playback thread has handed to the device. What lies before it in the ring and was not told of
    /// counts as not heard.
    @_noLocks @_noAllocation
    mutating func rendered(_ span: RenderedSpan) {
        let spanEnd = span.firstFrame &+ span.frames
        while waiting.count > 0 {
            var run = waiting[0]
            if run.isEnd {
                concludeEnds(now: span.dacTime)
                continue
            }
            let untold = run.frames(before: span.firstFrame)
            let left = run.frames(before: spanEnd)
            if left > untold {
                let offset = run.ringFrame + Double(untold) * run.scale - Double(span.firstFrame)
                let time = MonotonicTime(nanoseconds: span.dacTime.nanoseconds &+ Int64(offset * (1e9 / 48_000)))
                leave(
                    SpokenSegment(
                        utterance: run.utterance, firstFrame: run.firstFrame &+ untold, frames: left &- untold,
                        time: time))
            }
            guard left == run.frames else {
                run.ringFrame += Double(left) * run.scale
                run.firstFrame &+= left
                run.frames &-= left
                waiting[0] = run
                return
            }
            waiting.removeFirst()
            concludeEnds(now: nil)
        }
    }

    /// Takes note of the ends that nothing to be heard stands before any more.
    ///
    /// - Parameter now: when an utterance of which nothing was heard has ended; nil to leave those for later.
    @_noLocks @_noAllocation
    mutating func concludeEnds(now: MonotonicTime?) {
        while waiting.count > 0 {
            let run = waiting[0]
            guard run.isEnd, let time = heardEnd ?? now else { return }
            news.append(
                News(
                    utterance: run.utterance, isEnd: true, isComplete: run.isComplete, heardFrames: heardFrames,
                    time: time))
            (heardFrames, heardEnd, reached) = (0, nil, 0)
            waiting.removeFirst()
        }
    }

    @_noLocks @_noAllocation
    private mutating func leave(_ segment: SpokenSegment) {
        if case .none = heardEnd {
            news.append(
                News(
                    utterance: segment.utterance, isEnd: false, isComplete: false, heardFrames: 0, time: segment.time))
        }
        let end = segment.firstFrame &+ segment.frames
        if end > reached {
            heardFrames &+= end &- max(segment.firstFrame, reached)
            reached = end
        }
        heardEnd = segment.end
        if spoken.count > 0 {
            let newest = spoken.count &- 1
            var last = spoken[newest]
            let difference = segment.time.nanoseconds &- last.end.nanoseconds
            if last.utterance == segment.utterance, last.firstFrame &+ last.frames == segment.firstFrame,
                difference < Self.tolerance, difference > -Self.tolerance
            {
                last.frames &+= segment.frames
                spoken[newest] = last
                return
            }
        }
        spoken.appendReplacing(segment)
    }

    // MARK: What is known

    /// The utterance that ``heardFrames`` are of; nil where none is on its way out.
    var leavingUtterance: UInt32? {
        guard heardEnd != nil, spoken.count > 0 else { return nil }
        return spoken[spoken.count &- 1].utterance
    }

    /// What has come to pass by `now` and has not been removed.
    func nextNews(now: MonotonicTime) -> News? {
        guard news.count > 0, news[0].time <= now else { return nil }
        return news[0]
    }

    mutating func removeNews() { news.removeFirst() }

    /// Whether nothing is on its way and nothing is left to be told.
    var isEmpty: Bool { waiting.count == 0 && news.count == 0 }

    /// The segment that was the `index`th to leave the DAC, the newest being 0; nil where it is forgotten, or there is
    /// none.
    func segment(_ index: Int) -> SpokenSegment? {
        guard index >= 0, index < spoken.count else { return nil }
        return spoken[spoken.count - 1 - index]
    }

    /// How many frames of an utterance had left the DAC at `time`, as far back as the trail reaches.
    func heardFrames(of utterance: UInt32, at time: MonotonicTime) -> Int {
        var frames = 0
        var index = 0
        // From the newest back: what was heard again is counted there, and its first time is not.
        var counted = Int.max
        while let segment = segment(index) {
            index += 1
            guard segment.utterance == utterance, segment.time < time else { continue }
            let heard = min(segment.frames, time.frames(since: segment.time, sampleRate: 48_000))
            frames += max(0, min(segment.firstFrame + heard, counted) - segment.firstFrame)
            counted = min(counted, segment.firstFrame)
        }
        return frames
    }
}

/// Values in the order in which they came, in memory that is made once. For one thread at a time.
///
/// Overflow: ``append(_:)`` refuses the newest value, ``appendReplacing(_:)`` gives up the oldest. In this file, so
/// that what is proved of the trail is proved of it too: the compiler sees generic code of another file only in release
/// builds.
@safe
private struct FixedRing<Element: BitwiseCopyable>: ~Copyable {
    private let elements: UnsafeMutablePointer<Element>
    private let mask: Int
    private var first = 0
    private(set) var count = 0

    /// - Parameter capacity: a power of two.
    init(capacity: Int, filler: Element) {
        precondition(capacity > 0 && capacity & (capacity &- 1) == 0)
        mask = capacity &- 1
        unsafe elements = .allocate(capacity: capacity)
        unsafe elements.initialize(repeating: filler, count: capacity)
    }

    deinit { unsafe elements.deallocate() }

    /// How many values there is room for.
    var room: Int { mask &+ 1 &- count }

    /// The values, the oldest being 0.
    subscript(index: Int) -> Element {
        get {
            precondition(index >= 0 && index < count)
            return unsafe elements[(first &+ index) & mask]
        }
        set {
            precondition(index >= 0 && index < count)
            unsafe elements[(first &+ index) & mask] = newValue
        }
    }

    /// Appends a value; false where there is no room.
    @discardableResult
    mutating func append(_ element: Element) -> Bool {
        guard count <= mask else { return false }
        unsafe elements[(first &+ count) & mask] = element
        count &+= 1
        return true
    }

    /// Appends a value, in the place of the oldest where there is no room.
    mutating func appendReplacing(_ element: Element) {
        if count > mask { removeFirst() }
        append(element)
    }

    /// Removes the oldest value.
    mutating func removeFirst() {
        precondition(count > 0)
        first = (first &+ 1) & mask
        count &-= 1
    }
}
