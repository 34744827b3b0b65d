internal import VoiceDevices
internal import VoiceRealtime

/// Which frames of which utterance left the DAC when.
///
///     pull: frames of an utterance ─► frames of the playout ring ─┐
///                                                                 ├─► frames of the utterance, by the DAC's time
///     playback thread: frames of the playout ring ─► DAC's time ──┘
///
/// Nothing is estimated: what the playback thread has not taken has not been heard, whatever the clock says. Nothing is allocated after `init`; what finds no
/// room in it counts as not heard.
@safe
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

    private let waiting: UnsafeMutablePointer<Run>
    private var firstWaiting = 0
    private var waitingCount = 0
    private let spoken: UnsafeMutablePointer<SpokenSegment>
    /// Segments ever noted; the last ``spokenCapacity`` are kept.
    private var spokenCount = 0
    private let news: UnsafeMutablePointer<News>
    private var firstNews = 0
    private var newsCount = 0
    /// Of the utterance whose runs leave the ring now: frames that have left the DAC, or will, and when the last of them has.
    private var heardFrames = 0
    private var heardEnd: MonotonicTime?

    init() {
        unsafe waiting = .allocate(capacity: Self.waitingCapacity)
        unsafe waiting.initialize(repeating: Run(utterance: 0), count: Self.waitingCapacity)
        unsafe spoken = .allocate(capacity: Self.spokenCapacity)
        unsafe spoken.initialize(
            repeating: SpokenSegment(time: MonotonicTime(nanoseconds: 0)), count: Self.spokenCapacity)
        unsafe news = .allocate(capacity: Self.newsCapacity)
        let nothing = News(
            utterance: 0, isEnd: false, isComplete: false, heardFrames: 0, time: MonotonicTime(nanoseconds: 0))
        unsafe news.initialize(repeating: nothing, count: Self.newsCapacity)
    }

    deinit {
        unsafe waiting.deallocate()
        unsafe spoken.deallocate()
        unsafe news.deallocate()
    }

    // MARK: On the way to the DAC

    /// Notes frames that were pulled: where they lie in the playout ring, and how many of its frames each takes.
    @_noLocks @_noAllocation
    mutating func pulled(_ utterance: UInt32, firstFrame: Int, frames: Int, ringFrame: Double, scale: Double) {
        if waitingCount > 0 {
            let last = (firstWaiting &+ waitingCount &- 1) % Self.waitingCapacity
            let run = unsafe waiting[last]
            if !run.isEnd, run.utterance == utterance, run.scale == scale, run.firstFrame &+ run.frames == firstFrame,
                run.ringFrame + Double(run.frames) * scale == ringFrame
            {
                unsafe waiting[last].frames &+= frames
                return
            }
        }
        // Places are kept for the ends.
        guard waitingCount < Self.waitingCapacity &- Self.keptForEnds else { return }
        var run = Run(utterance: utterance)
        (run.firstFrame, run.frames, run.ringFrame, run.scale) = (firstFrame, frames, ringFrame, scale)
        append(run)
    }

    /// Notes that nothing more comes of an utterance.
    @_noLocks @_noAllocation
    mutating func ended(_ utterance: UInt32, isComplete: Bool) {
        var run = Run(utterance: utterance)
        (run.isEnd, run.isComplete) = (true, isComplete)
        append(run)
    }

    @_noLocks @_noAllocation
    private mutating func append(_ run: Run) {
        guard waitingCount < Self.waitingCapacity else { return }
        unsafe waiting[(firstWaiting &+ waitingCount) % Self.waitingCapacity] = run
        waitingCount &+= 1
    }

    // MARK: At the DAC

    /// Takes what the playback thread has handed to the device. What lies before it in the ring was discarded.
    @_noLocks @_noAllocation
    mutating func rendered(_ span: RenderedSpan) {
        let spanEnd = span.firstFrame &+ span.frames
        while waitingCount > 0 {
            var run = unsafe waiting[firstWaiting]
            if run.isEnd { return }
            let discarded = run.frames(before: span.firstFrame)
            let left = run.frames(before: spanEnd)
            if left > discarded {
                let offset = run.ringFrame + Double(discarded) * run.scale - Double(span.firstFrame)
                let time = MonotonicTime(nanoseconds: span.dacTime.nanoseconds &+ Int64(offset * (1e9 / 48_000)))
                leave(
                    SpokenSegment(
                        utterance: run.utterance, firstFrame: run.firstFrame &+ discarded, frames: left &- discarded,
                        time: time))
            }
            guard left == run.frames else {
                run.ringFrame += Double(left) * run.scale
                run.firstFrame &+= left
                run.frames &-= left
                unsafe waiting[firstWaiting] = run
                return
            }
            removeFirst()
            concludeEnds(now: nil)
        }
    }

    /// Takes note of the ends that nothing to be heard stands before any more.
    ///
    /// - Parameter now: when an utterance of which nothing was heard has ended; nil to leave those for later.
    @_noLocks @_noAllocation
    mutating func concludeEnds(now: MonotonicTime?) {
        while waitingCount > 0 {
            let run = unsafe waiting[firstWaiting]
            guard run.isEnd, let time = heardEnd ?? now else { return }
            tell(
                News(
                    utterance: run.utterance, isEnd: true, isComplete: run.isComplete, heardFrames: heardFrames,
                    time: time))
            (heardFrames, heardEnd) = (0, nil)
            removeFirst()
        }
    }

    @_noLocks @_noAllocation
    private mutating func removeFirst() {
        firstWaiting = (firstWaiting &+ 1) % Self.waitingCapacity
        waitingCount &-= 1
    }

    @_noLocks @_noAllocation
    private mutating func leave(_ segment: SpokenSegment) {
        if case .none = heardEnd {
            tell(
                News(
                    utterance: segment.utterance, isEnd: false, isComplete: false, heardFrames: 0, time: segment.time))
        }
        heardFrames &+= segment.frames
        heardEnd = segment.end
        if spokenCount > 0 {
            let place = (spokenCount &- 1) % Self.spokenCapacity
            let last = unsafe spoken[place]
            let difference = segment.time.nanoseconds &- last.end.nanoseconds
            if last.utterance == segment.utterance, last.firstFrame &+ last.frames == segment.firstFrame,
                difference < Self.tolerance, difference > -Self.tolerance
            {
                unsafe spoken[place].frames &+= segment.frames
                return
            }
        }
        unsafe spoken[spokenCount % Self.spokenCapacity] = segment
        spokenCount &+= 1
    }

    // MARK: What is known

    @_noLocks @_noAllocation
    private mutating func tell(_ item: News) {
        guard newsCount < Self.newsCapacity else { return }
        unsafe news[(firstNews &+ newsCount) % Self.newsCapacity] = item
        newsCount &+= 1
    }

    /// What has come to pass by `now` and has not been removed.
    func nextNews(now: MonotonicTime) -> News? {
        guard newsCount > 0 else { return nil }
        let next = unsafe news[firstNews]
        return next.time <= now ? next : nil
    }

    mutating func removeNews() {
        firstNews = (firstNews + 1) % Self.newsCapacity
        newsCount -= 1
    }

    /// Whether nothing is on its way and nothing is left to be told.
    var isEmpty: Bool { waitingCount == 0 && newsCount == 0 }

    /// The segment that was the `index`th to leave the DAC, the newest being 0; nil where it is forgotten, or there is none.
    func segment(_ index: Int) -> SpokenSegment? {
        guard index >= 0, index < min(spokenCount, Self.spokenCapacity) else { return nil }
        return unsafe spoken[(spokenCount - 1 - index) % Self.spokenCapacity]
    }

    /// How many frames of an utterance had left the DAC at `time`, as far back as the trail reaches.
    func heardFrames(of utterance: UInt32, at time: MonotonicTime) -> Int {
        var frames = 0
        var index = 0
        while let segment = segment(index) {
            index += 1
            guard segment.utterance == utterance, segment.time < time else { continue }
            frames += min(segment.frames, time.frames(since: segment.time, sampleRate: 48_000))
        }
        return frames
    }
}
