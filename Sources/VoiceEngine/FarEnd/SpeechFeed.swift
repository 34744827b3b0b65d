internal import VoiceRealtime
internal import VoiceSignal

/// Where an utterance begins or ends in a far end's queue.
struct SpeechMark: BitwiseCopyable, Sendable {
    /// The first frame that it holds for, counted from the first ever queued.
    var frame: Int
    var utterance: UInt32
    var isEnd: Bool
}

/// The client's end of a far end's queue: bounds what comes, brings it to 48 kHz and marks its utterances.
///
///     16, 24 or 48 kHz, Float32 or Int16 ─► bound ─► resample ─► sample ring ─► SpeechQueue
///                              begin, end of an utterance ─────► mark ring  ─┘
///
/// One caller at a time. A mark is in its ring before the frames that it holds for are in theirs. Nothing is allocated
/// after `init`.
@safe
struct SpeechFeed: ~Copyable, @unchecked Sendable {
    /// Input frames that are converted at a time.
    private static var chunk: Int { @_noLocks @_noAllocation get { 480 } }
    /// What the end of a resampled utterance may add: the filter's reach, in frames of 48 kHz, and some.
    private static var reserve: Int { @_noLocks @_noAllocation get { 512 } }
    /// Marks that may wait: 128 utterances, or fewer.
    static let markCapacity = 256

    private var samples: FrameProducer
    private var marks: ValueProducer<SpeechMark>
    private let cells: FarEndCells
    let limit: Int
    private var from16: RateConverter
    private var from24: RateConverter
    private let scratch: UnsafeMutablePointer<Float>
    private var utterance: UInt32 = 0
    private var hasBegun = false
    private var isOpen = false
    private var rate = SoundRate.hertz48000
    /// Frames taken of the utterance since it, or its present rate, began, and frames of 48 kHz made of them.
    private var taken = 0
    private var made = 0

    init(
        samples: consuming FrameProducer, marks: consuming ValueProducer<SpeechMark>, limit: Int, cells: FarEndCells
    ) throws(RateConverterError) {
        let from16 = try RateConverter(inputRate: 16_000, outputRate: 48_000)
        let from24 = try RateConverter(inputRate: 24_000, outputRate: 48_000)
        precondition(limit + Self.reserve <= samples.capacity)
        self.from16 = from16
        self.from24 = from24
        self.samples = samples
        self.marks = marks
        self.cells = cells
        self.limit = limit
        unsafe scratch = .allocate(capacity: Self.chunk)
        unsafe scratch.initialize(repeating: 0, count: Self.chunk)
    }

    deinit { unsafe scratch.deallocate() }

    /// Frames of 48 kHz that wait.
    var fill: Int { @_noLocks @_noAllocation get { samples.fill } }

    /// Frames of 48 kHz that there is room for.
    var room: Int { @_noLocks @_noAllocation get { max(limit &- samples.fill, 0) } }

    /// Takes as much of `input` as there is room for and returns how much that is; all of it, to no effect, where its
    /// utterance has ended or is interrupted.
    @_noLocks @_noAllocation
    mutating func offer(_ input: SoundSamples, rate: SoundRate, utterance: UInt32, isLast: Bool) -> Int {
        let count = input.count
        guard let wanted = begin(utterance, rate: rate, count: count) else { return discard(count, rate) }
        var done = 0
        while done < wanted {
            let frames = min(wanted &- done, Self.chunk)
            unsafe input.copy(from: done, frames: frames, to: scratch)
            convert(frames)
            done &+= frames
        }
        if isLast && done == count { end() }
        return done
    }

    /// Says that nothing more comes of an utterance; nothing happens where that is known.
    @_noLocks @_noAllocation
    mutating func finish(_ utterance: UInt32) {
        guard isOpen, self.utterance == utterance else { return }
        end()
    }

    @_noLocks @_noAllocation
    private func discard(_ count: Int, _ rate: SoundRate) -> Int {
        cells.countStale(count &* Self.ratio(rate))
        return count
    }

    @_noLocks @_noAllocation
    private static func ratio(_ rate: SoundRate) -> Int {
        switch rate {
        case .hertz16000: 3
        case .hertz24000: 2
        case .hertz48000: 1
        }
    }

    /// How many of `count` frames can be taken; nil where they come too late.
    @_noLocks @_noAllocation
    private mutating func begin(_ utterance: UInt32, rate: SoundRate, count: Int) -> Int? {
        guard UInt64(utterance) >= cells.interruptedBound else {
            // An end tells the queue that nothing more comes.
            if isOpen && self.utterance == utterance { end() }
            return nil
        }
        if !hasBegun || utterance > self.utterance {
            // The end of the one before, the beginning and the end of this one: for its end there is room from here on.
            guard marks.room >= 3 else { return 0 }
            if isOpen { end() }
            cells.begin(utterance)
            marks.push(SpeechMark(frame: samples.writtenFrames, utterance: utterance, isEnd: false))
            (self.utterance, hasBegun, isOpen) = (utterance, true, true)
            adopt(rate)
        }
        guard isOpen, utterance == self.utterance else { return nil }
        if Self.ratio(rate) != Self.ratio(self.rate) {
            flush()
            adopt(rate)
        }
        return min(count, room / Self.ratio(rate))
    }

    @_noLocks @_noAllocation
    private mutating func adopt(_ rate: SoundRate) {
        self.rate = rate
        (taken, made) = (0, 0)
        switch rate {
        case .hertz16000: from16.reset()
        case .hertz24000: from24.reset()
        case .hertz48000: break
        }
    }

    @_noLocks @_noAllocation
    private mutating func end() {
        flush()
        marks.push(SpeechMark(frame: samples.writtenFrames, utterance: utterance, isEnd: true))
        isOpen = false
    }

    /// Gives out what the resampler holds back: silence follows, so that what comes out is as long as what went in.
    @_noLocks @_noAllocation
    private mutating func flush() {
        let missing = taken &* Self.ratio(rate) &- made
        guard missing > 0 else { return }
        var index = 0
        while index < Self.chunk {
            unsafe scratch[index] = 0
            index &+= 1
        }
        put(Self.chunk, atMost: missing)
    }

    /// Puts the first `frames` of the scratch memory into the ring.
    @_noLocks @_noAllocation
    private mutating func convert(_ frames: Int) {
        taken &+= frames
        put(frames, atMost: frames &* Self.ratio(rate))
    }

    @_noLocks @_noAllocation
    private mutating func put(_ frames: Int, atMost wanted: Int) {
        var produced = 0
        var room = samples.acquire(wanted)
        let count = room.count
        if let target = unsafe room.withUnsafeMutableBufferPointer({ $0.baseAddress }) {
            switch rate {
            case .hertz16000: produced = unsafe from16.process(scratch, frames, target, count).produced
            case .hertz24000: produced = unsafe from24.process(scratch, frames, target, count).produced
            case .hertz48000:
                unsafe UnsafeMutableRawPointer(target).copyMemory(
                    from: scratch, byteCount: min(frames, count) * MemoryLayout<Float>.stride)
                produced = min(frames, count)
            }
        }
        samples.commit(produced, time: MonotonicTime(nanoseconds: 0))
        made &+= produced
    }
}
