import Glibc
import VoiceSignal

/// Finds by how much one signal lags another, anywhere from 0 to 640 ms, with the same small work in each block.
///
/// Generalised cross-correlation with phase transform (Knapp and Carter, 1976), block by block: the whitened spectrum
/// of the microphone's newest 10 ms times those of 20 ms of the other signal 0, 10, 20 ... 630 ms ago, each product
/// averaged exponentially. Each of these 64 lanes holds 10 ms of lags without a wrap; two of the four groups of lanes
/// are transformed back in each block. A peak that stands out of the mean of all lags is an echo.
struct LagSearch: ~Copyable {
    /// What a round of all lags showed.
    struct Peak {
        /// Frames.
        var lag: Int
        /// Peak over mean magnitude of the lags that can hold anything.
        var prominence: Float
        /// Peak over what two equal signals would have had over the whole memory, 0...1.
        var likeness: Float
    }

    static let lanes = 64
    static let block = 160
    /// Lags that are searched, frames.
    static let lags = lanes * block
    /// Bins of 50 Hz: above hum, to where a small loudspeaker and a voice still have something to say.
    private static let band = 4..<92
    /// Groups of lanes that are transformed back in a block.
    private static let groupsPerBlock = 2
    private static let groups = lanes / LagFrames.lanes
    /// Mean square of the other signal, over 20 ms, below which it says nothing: -65 dBFS.
    private static let silence: Float = 3e-7
    /// Lanes that the mean is taken over at least.
    private static let fewestLanes = 16

    private let memory: Float
    /// The peak that two equal signals would have.
    private let fullScale: Float
    /// A bit for each lane: whether there was anything in it; the newest lane's is the lowest.
    private var active: UInt64 = 0
    private var past = SpectrumHistory(lanes: lanes + 1, width: .searched)
    private var recorded = SpectrumHistory(lanes: 2, width: .searched)
    private var sum = SpectrumRows(count: lanes, width: .searched)
    /// Blocks that are not in a group's sum yet: both are added at once, or the one when the group is looked at.
    private var waiting = FixedArray<Int>(count: groups, repeating: 0)
    private var whitened = Spectrum()
    private var group = 0
    private var frames = LagFrames()
    private var best = (value: Float(0), lag: 0, sum: Float(0))
    private var watched = (lag: -1, value: Float(0))

    /// The last whole round's result.
    private(set) var peak = Peak(lag: 0, prominence: 0, likeness: 0)
    /// Likeness, in the last round, at the best lag within 8 frames of the one given to ``watch(_:)``.
    private(set) var watchedLikeness: Float = 0
    /// Rounds that ended so far.
    private(set) var rounds = 0
    private var watchedBest: Float = 0

    /// A search whose average has a memory of so many blocks.
    init(memoryBlocks: Float) {
        memory = expf(-1 / memoryBlocks)
        fullScale = 2 * Float(Self.band.count) / (1 - memory)
    }

    /// Forgets how alike the signals were, and begins a round.
    mutating func clear() {
        sum.clear()
        waiting.fill(0)
        group = 0
        best = (0, 0, 0)
        peak = Peak(lag: 0, prominence: 0, likeness: 0)
        (watchedBest, watchedLikeness) = (0, 0)
    }

    /// The lag that is of interest.
    mutating func watch(_ lag: Int) { watched.lag = lag }

    /// Takes the newest spectra: of 20 ms of the one signal, of a block of silence and the newest block of the
    /// microphone.
    mutating func add(other: borrowing Spectrum, power: Float, microphone: borrowing Spectrum) {
        let isActive = power >= Self.silence
        active = active << 1 | (isActive ? 1 : 0)
        if isActive { whiten(other) } else { whitened.clear() }
        past.push(whitened)
        whiten(microphone)
        recorded.push(whitened)
        for group in 0..<Self.groups {
            waiting[group] += 1
            if waiting[group] == 2 { average(group) }
        }
    }

    private mutating func average(_ group: Int) {
        guard waiting[group] > 0 else { return }
        past.correlate(
            recorded, blocks: waiting[group], memory: memory, lanes: group * LagFrames.lanes, into: &sum)
        waiting[group] = 0
    }

    /// Looks at the next lanes.
    ///
    /// - Returns: whether a round has ended and ``peak`` is new.
    mutating func look() -> Bool {
        for _ in 0..<Self.groupsPerBlock { look(group: group) }
        guard group == 0 else { return false }
        let filled = max(Self.fewestLanes, active.nonzeroBitCount)
        let mean = best.sum / Float(filled * Self.block) + 3e-10
        peak = Peak(lag: best.lag, prominence: best.value / mean, likeness: best.value / fullScale)
        watchedLikeness = watchedBest / fullScale
        best = (0, 0, 0)
        watchedBest = 0
        rounds += 1
        return true
    }

    private mutating func look(group number: Int) {
        average(number)
        frames.take(sum, rows: number * LagFrames.lanes)
        for lane in 0..<LagFrames.lanes {
            best.sum += frames.sum[lane]
            let first = (number * LagFrames.lanes + lane) * Self.block
            if frames.largest[lane] > best.value {
                best = (frames.largest[lane], first + Int(frames.frame[lane]), best.sum)
            }
            compareWatched(lane: lane, first: first)
        }
        group = (number + 1) % Self.groups
    }

    private mutating func compareWatched(lane: Int, first: Int) {
        guard watched.lag >= 0 else { return }
        let near = max(first, watched.lag - 8)..<max(first, watched.lag - 8, min(first + Self.block, watched.lag + 9))
        for lag in near { watchedBest = max(watchedBest, abs(frames[lane, lag - first])) }
    }

    private mutating func whiten(_ spectrum: borrowing Spectrum) {
        whitened.takeWhitened(spectrum, in: Self.band)
    }
}
