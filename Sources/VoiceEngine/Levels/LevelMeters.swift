internal import VoiceRealtime
internal import VoiceSignal

/// What the media thread keeps of a meter. Whoever opened it keeps the memory until the media thread says that it has
/// let go.
package struct MeterHandle: BitwiseCopyable, Sendable {
    let number: UInt64
    let nanoseconds: Int64
    let cells: FarEndCells

    init(_ line: MeterLine, number: UInt64, interval: Duration) {
        self.number = number
        nanoseconds = Int64(interval / .nanoseconds(1))
        cells = line.cells
    }
}

/// The sound of an interval so far, as far as its level goes.
struct LevelSum: BitwiseCopyable, Sendable {
    /// Sum of squares.
    var energy = 0.0
    var frames = 0
    /// The greatest magnitude.
    var peak: Float = 0
    var isSpeaking: Bool?

    mutating func add(_ other: LevelSum) {
        energy += other.energy
        frames += other.frames
        peak = max(peak, other.peak)
        if let speaks = other.isSpeaking { isSpeaking = speaks || isSpeaking == true }
    }
}

/// The levels of an interval, on their way from the media thread.
struct LevelNews: BitwiseCopyable, Sendable {
    var captured = LevelSum()
    var near = LevelSum()
    var far = LevelSum()
    /// How long the interval was.
    var nanoseconds: Int64 = 0
}

/// The meters that are open. One owner, the media thread; allocates nothing. A block is measured once, however many
/// meters there are.
struct LevelMeters: BitwiseCopyable {
    /// Where a level is measured.
    enum Place: BitwiseCopyable { case captured, near, far }

    /// 10 ms above this is taken for speech of the far end: -50 dBFS, as a power.
    private static let speakingPower: Float = 1e-5

    private struct Meter: BitwiseCopyable {
        let handle: MeterHandle
        var news = LevelNews()
        var start: MonotonicTime?
    }

    private var meters = InlineArray<4, Meter?>(repeating: nil)
    private(set) var count = 0

    /// Whoever opens them sees to it that there are not too many.
    mutating func open(_ handle: MeterHandle) {
        guard let free = meters.indices.first(where: { meters[$0] == nil }) else { return }
        meters[free] = Meter(handle: handle)
        count += 1
    }

    /// Takes a block that is at a place now.
    mutating func hear(_ place: Place, _ block: Span<Float>, isSpeaking: Bool? = nil) {
        guard count > 0, !block.isEmpty else { return }
        let energy = energy(of: block)
        // What is no number is no level.
        guard energy.isFinite else { return }
        var sum = LevelSum(energy: Double(energy), frames: block.count, isSpeaking: isSpeaking)
        for index in block.indices { sum.peak = max(sum.peak, abs(block[index])) }
        if place == .far { sum.isSpeaking = energy > Self.speakingPower * Float(block.count) }
        for index in meters.indices where meters[index] != nil {
            switch place {
            case .captured: meters[index]?.news.captured.add(sum)
            case .near: meters[index]?.news.near.add(sum)
            case .far: meters[index]?.news.far.add(sum)
            }
        }
    }

    /// What is to be told next of the meters; what it is told of is begun anew, or gone, by ``told(_:_:now:)``.
    func next(now: MonotonicTime) -> (index: Int, news: FarEndNews)? {
        for index in meters.indices {
            guard let meter = meters[index] else { continue }
            if meter.handle.cells.isClosed { return (index, FarEndNews(kind: .closed, line: meter.handle.number)) }
            guard let start = meter.start else { continue }
            let passed = now.nanoseconds - start.nanoseconds
            guard passed >= meter.handle.nanoseconds else { continue }
            var news = FarEndNews(kind: .levels, line: meter.handle.number)
            news.levels = meter.news
            (news.time, news.levels.nanoseconds) = (now.nanoseconds, passed)
            return (index, news)
        }
        return nil
    }

    /// It was told. By what was told, and not by the meter's cells, which whoever was told of its end may have freed.
    mutating func told(_ index: Int, _ kind: FarEndNews.Kind, now: MonotonicTime) {
        guard meters[index] != nil else { return }
        if kind == .closed {
            meters[index] = nil
            count -= 1
        } else {
            meters[index]?.news = LevelNews()
            meters[index]?.start = now
        }
    }

    /// Has the first interval of new meters begin.
    mutating func begin(now: MonotonicTime) {
        for index in meters.indices where meters[index] != nil && meters[index]?.start == nil {
            meters[index]?.start = now
        }
    }
}
