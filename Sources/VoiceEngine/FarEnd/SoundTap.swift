internal import VoiceRealtime
internal import VoiceSignal

/// From when on frames of a tap have which time.
struct SoundMark: BitwiseCopyable, Sendable {
    /// The first frame that it holds for, counted from the first ever written.
    var frame: Int
    var time: MonotonicTime
    /// Whether something is missing before it.
    var isGap: Bool
}

/// The media thread's end of a sink: sound of 48 kHz, with the time of each frame.
///
/// Overflow: a whole block is dropped, the *newest*, and counted. The oldest cannot be: its reader may be at it. So a
/// reader that comes back late finds what came first whole, and then a gap that the times tell.
struct SoundTap: ~Copyable, @unchecked Sendable {
    /// What a reader may be late by: 2 s.
    static let capacity = 96_000
    static let markCapacity = 1_024
    /// A time that moves by fewer frames is the clock's drift: 2 ms.
    private static let smallestGap = 96
    /// Times are good to this: 0.1 ms.
    private static let tolerance: Int64 = 100_000

    private var ring: FrameProducer
    private var marks: ValueProducer<SoundMark>
    private let cells: FarEndCells
    private var last: SoundMark?
    private var continuity = SoundContinuity()
    private var hasDropped = false

    init(ring: consuming FrameProducer, marks: consuming ValueProducer<SoundMark>, cells: FarEndCells) {
        self.ring = ring
        self.marks = marks
        self.cells = cells
    }

    var droppedFrames: Int { ring.droppedFrames }

    mutating func write(_ frames: Span<Float>, time: MonotonicTime) {
        let difference = last.map { last in
            let expected = last.time.advanced(byFrames: ring.writtenFrames - last.frame, sampleRate: 48_000)
            return abs(time.nanoseconds - expected.nanoseconds)
        }
        let isApart = abs(continuity.insert(frames.count, at: time)) > Self.smallestGap
        let isGap = hasDropped || isApart || last == nil
        let needsMark = isGap || difference.map { $0 > Self.tolerance } ?? true
        guard Self.capacity - ring.fill >= frames.count, !needsMark || marks.room > 0 else {
            ring.drop(frames.count)
            hasDropped = true
            return
        }
        if needsMark {
            let mark = SoundMark(frame: ring.writtenFrames, time: time, isGap: isGap)
            marks.push(mark)
            last = mark
        }
        hasDropped = false
        _ = ring.write(frames, time: MonotonicTime(nanoseconds: 0))
    }

    /// How much somebody waits for, where there is as much: to be told. Whoever is told may at once wait for more.
    func takeWish() -> Int? {
        let wanted = cells.wantedSound
        guard wanted > 0, ring.fill >= wanted else { return nil }
        cells.wantedSound = 0
        return wanted
    }

    /// It could not be told.
    func returnWish(_ wanted: Int) { cells.wantSoundStill(wanted) }

    var isClosed: Bool { cells.isClosed }
}

/// The client's end of a sink, at the client's rate.
@safe
struct SoundSink: ~Copyable, @unchecked Sendable {
    private var ring: FrameConsumer
    private var marks: ValueConsumer<SoundMark>
    private var converter: RateConverter
    private let ratio: Int
    private var mark: SoundMark?
    private var nextMark: SoundMark?
    /// Since the last gap.
    private var fed = 0
    private var made = 0

    init(
        ring: consuming FrameConsumer, marks: consuming ValueConsumer<SoundMark>, rate: SoundRate
    ) throws(RateConverterError) {
        converter = try RateConverter(inputRate: 48_000, outputRate: rate.rawValue)
        ratio = rate.ratio
        self.ring = ring
        self.marks = marks
    }

    /// Frames that were dropped because nobody took them, of 48 kHz.
    var droppedFrames: Int { @_noLocks @_noAllocation get { ring.droppedFrames } }

    /// Fills `output` as far as there is sound without a gap.
    ///
    /// - Parameter continuing: whether what comes is to follow what was taken last: then nothing is taken where there
    ///   is a gap between.
    @_noLocks @_noAllocation
    mutating func take(into output: inout MutableSpan<Float>, continuing: Bool = false) -> SoundTake {
        let count = output.count
        var result = SoundTake()
        var filled = 0
        while filled < count {
            let available = ring.available
            if nextMark == nil { nextMark = marks.pop() }
            if let next = nextMark, next.frame <= ring.readFrames {
                if next.isGap {
                    guard filled == 0, !continuing else {
                        result.isBeforeGap = true
                        break
                    }
                    converter.reset()
                    (fed, made) = (0, 0)
                    result.isAfterGap = true
                }
                mark = next
                nextMark = nil
                continue
            }
            guard let mark else { break }
            var run = available
            if let nextMark { run = min(run, nextMark.frame &- ring.readFrames) }
            guard run > 0 else { break }
            if filled == 0 {
                let offset = ring.readFrames &- mark.frame &- (fed &- made &* ratio)
                result.nanoseconds = mark.time.advanced(byFrames: offset, sampleRate: 48_000).nanoseconds
            }
            var piece = output._mutatingExtracting(filled..<count)
            filled &+= ratio == 1 ? copy(run, into: &piece) : convert(run, into: &piece)
        }
        result.frames = filled
        return result
    }

    @_noLocks @_noAllocation
    private mutating func copy(_ run: Int, into output: inout MutableSpan<Float>) -> Int {
        var piece = output._mutatingExtracting(0..<min(run, output.count))
        let read = ring.read(into: &piece)
        fed &+= read
        made &+= read
        return read
    }

    @_noLocks @_noAllocation
    private mutating func convert(_ run: Int, into output: inout MutableSpan<Float>) -> Int {
        let room = output.count
        // Never more input than the output has room for: else the converter would hold back sound.
        let wanted = min(run, (made &+ room) &* ratio &- fed &+ converterReach)
        var consumed = 0
        var produced = 0
        do {
            var input = ring.acquire(wanted)
            let given = input.count
            let from = unsafe input.withUnsafeMutableBufferPointer { $0.baseAddress }
            let target = unsafe output.withUnsafeMutableBufferPointer { $0.baseAddress }
            if let from = unsafe from, let target = unsafe target {
                (consumed, produced) = unsafe converter.process(from, given, target, room)
            }
        }
        ring.release(consumed)
        fed &+= consumed
        made &+= produced
        return produced
    }

    /// More than the converter's filter reaches ahead at either rate.
    private var converterReach: Int { @_noLocks @_noAllocation get { 480 } }
}

/// Sound that was taken out of a sink.
public struct SoundTake: BitwiseCopyable, Equatable, Sendable {
    /// How many frames there were.
    public var frames = 0
    /// ``time``, as real-time code has it.
    package var nanoseconds: Int64 = 0
    /// Whether sound is missing before the first of them: dropped because nobody took it, or not there.
    public var isAfterGap = false
    /// Whether sound is missing behind the last of them.
    public var isBeforeGap = false

    @_noLocks @_noAllocation
    init() {}

    /// The time of the first of them: at the ADC for the near end, at the DAC for a participant; on the monotonic clock
    /// since its epoch.
    public var time: Duration { .nanoseconds(nanoseconds) }
}
