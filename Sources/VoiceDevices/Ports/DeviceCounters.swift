internal import Synchronization

/// What both directions of a device have counted since the counters were made; survives restarts of the device. What is
/// known of its clock and its queue goes with it.
///
/// Written by the device's own threads, readable from any thread at any time without waiting.
package final class DeviceCounters: Sendable {
    let capture = CounterCells.make()
    let playback = CounterCells.make()

    /// Counters at zero. Not real-time safe.
    package init() {}

    deinit {
        capture.free()
        playback.free()
    }

    /// Every counter as it stands. Each is exact; two of them may be a few microseconds apart. Real-time safe.
    package var counts: DeviceCounts {
        DeviceCounts(capture: capture.counts, playback: playback.counts)
    }
}

/// The counts of both directions of a device.
public struct DeviceCounts: Equatable, BitwiseCopyable, Sendable {
    /// From the microphone.
    public var capture = DirectionCounts()
    /// To the loudspeaker.
    public var playback = DirectionCounts()

    /// All zero.
    package init() {}

    init(capture: DirectionCounts, playback: DirectionCounts) {
        self.capture = capture
        self.playback = playback
    }
}

/// The counts of one direction of a device. Frames are 48 kHz frames.
public struct DirectionCounts: Equatable, BitwiseCopyable, Sendable {
    /// Frames that came from the device, or were handed to it (silence in place of missing ones included).
    public var frames = 0
    /// How often the device itself ran over (capture) or dry (playback). Each is a gap that the device's times show.
    public var xruns = 0
    /// Playback: frames that the playout ring did not hold when they were due, and that were faded or silent instead.
    /// Frames before the first one ever written do not count.
    public var underrunFrames = 0
    /// Capture: frames dropped because the capture ring was full. Playback: frames missing from the reference for the
    /// same reason.
    public var overflowFrames = 0
    /// Playback: frames that were beyond full scale after the gain, and were limited to it.
    public var clippedFrames = 0
    /// How often the device thread woke.
    public var wakeUps = 0
    /// The latest that the device thread woke after the period was due, in nanoseconds.
    public var worstLatenessNanoseconds: Int64 = 0
    /// How often the stream was started anew after an xrun, a suspend or an error.
    public var restarts = 0
    /// Capture: frames that the microphone heard and that did not arrive, because the device ran over, was suspended,
    /// or had a backlog too old to be of use. Playback: frames of silence that sounded because the device had run dry
    /// and was started anew. The frames' times show each of these gaps.
    public var gapFrames = 0
    /// Playback: those of ``gapFrames`` that are silence in the reference, whose times do not show them.
    package var filledGapFrames = 0
    /// Capture: how often a backlog was skipped.
    public var trims = 0
    /// Playback: frames that lie queued before the DAC after each wake-up, as the latency tuning wants it now; nil for
    /// a device without such a queue.
    public var fillTargetFrames: Int?
    /// Playback: how often a device has changed that target since the counters were made.
    public var fillTargetChanges = 0
    /// How much faster than nominal the device's clock runs, in parts per million of the monotonic clock; nil until it
    /// is known.
    public var driftPPM: Double?
    /// One standard deviation of ``driftPPM``; nil until it is known. Below 20 it is worth resampling by, below 2 it is
    /// all there is to know.
    public var driftUncertaintyPPM: Double?
    /// For how long the clock's rate has been learnt, in seconds, up to some 80, where it does not matter any more;
    /// starts over when the rate is seen to have changed, and not at a restart.
    public var clockAgeSeconds = 0.0
    /// The mean distance between the times at which periods were seen and the smoothed ones, in nanoseconds.
    public var clockJitterNanoseconds = 0.0

    /// All zero.
    package init() {}
}

/// The cells behind the counts of one direction, as real-time code keeps them: a pointer, hence no reference counting.
@safe
struct CounterCells: BitwiseCopyable, @unchecked Sendable {
    private struct Cells: ~Copyable {
        let frames = Atomic<Int>(0)
        let xruns = Atomic<Int>(0)
        let underrunFrames = Atomic<Int>(0)
        let overflowFrames = Atomic<Int>(0)
        let clippedFrames = Atomic<Int>(0)
        let wakeUps = Atomic<Int>(0)
        let worstLateness = Atomic<Int64>(0)
        let restarts = Atomic<Int>(0)
        let gapFrames = Atomic<Int>(0)
        let filledGapFrames = Atomic<Int>(0)
        let trims = Atomic<Int>(0)
        let fillTarget = Atomic<Int>(-1)
        let fillTargetChanges = Atomic<Int>(0)
        let driftPPM = Atomic<Double>(.nan)
        let driftUncertainty = Atomic<Double>(.nan)
        let clockAge = Atomic<Double>(0)
        let clockJitter = Atomic<Double>(0)
    }

    private let cells: UnsafeMutablePointer<Cells>

    static func make() -> CounterCells {
        // Lines of their own, in the adjacent pairs that x86 fetches: the two directions count on different threads.
        let raw = UnsafeMutableRawPointer.allocate(byteCount: max(MemoryLayout<Cells>.stride, 128), alignment: 128)
        let cells = unsafe raw.bindMemory(to: Cells.self, capacity: 1)
        unsafe cells.initialize(to: Cells())
        return unsafe CounterCells(cells: cells)
    }

    private init(cells: UnsafeMutablePointer<Cells>) { unsafe self.cells = cells }

    func free() {
        unsafe cells.deinitialize(count: 1)
        unsafe UnsafeMutableRawPointer(cells).deallocate()
    }

    @_noLocks @_noAllocation
    func addFrames(_ count: Int) { unsafe cells.pointee.frames.wrappingAdd(count, ordering: .relaxed) }

    @_noLocks @_noAllocation
    func addXrun() { unsafe cells.pointee.xruns.wrappingAdd(1, ordering: .relaxed) }

    @_noLocks @_noAllocation
    func addUnderrun(_ count: Int) { unsafe cells.pointee.underrunFrames.wrappingAdd(count, ordering: .relaxed) }

    @_noLocks @_noAllocation
    func addOverflow(_ count: Int) { unsafe cells.pointee.overflowFrames.wrappingAdd(count, ordering: .relaxed) }

    @_noLocks @_noAllocation
    func addClipped(_ count: Int) { unsafe cells.pointee.clippedFrames.wrappingAdd(count, ordering: .relaxed) }

    @_noLocks @_noAllocation
    func addRestart() { unsafe cells.pointee.restarts.wrappingAdd(1, ordering: .relaxed) }

    @_noLocks @_noAllocation
    func addWakeUp(latenessNanoseconds: Int64) {
        unsafe cells.pointee.wakeUps.wrappingAdd(1, ordering: .relaxed)
        // One writer, so that a plain comparison does.
        let worst = unsafe cells.pointee.worstLateness.load(ordering: .relaxed)
        if latenessNanoseconds > worst {
            unsafe cells.pointee.worstLateness.store(latenessNanoseconds, ordering: .relaxed)
        }
    }

    @_noLocks @_noAllocation
    func setDrift(ppm: Double) { unsafe cells.pointee.driftPPM.store(ppm, ordering: .relaxed) }

    @_noLocks @_noAllocation
    func addGap(_ count: Int) { unsafe cells.pointee.gapFrames.wrappingAdd(count, ordering: .relaxed) }

    @_noLocks @_noAllocation
    func addFilledGap(_ count: Int) { unsafe cells.pointee.filledGapFrames.wrappingAdd(count, ordering: .relaxed) }

    @_noLocks @_noAllocation
    func addTrim() { unsafe cells.pointee.trims.wrappingAdd(1, ordering: .relaxed) }

    @_noLocks @_noAllocation
    func setFillTarget(_ frames: Int) {
        let before = unsafe cells.pointee.fillTarget.exchange(frames, ordering: .relaxed)
        if before >= 0, before != frames {
            unsafe cells.pointee.fillTargetChanges.wrappingAdd(1, ordering: .relaxed)
        }
    }

    /// Forgets what was known of a device that has let go: its clock and its queue.
    func forgetDevice() {
        unsafe cells.pointee.fillTarget.store(-1, ordering: .relaxed)
        setDrift(ppm: .nan)
        setClock(uncertaintyPPM: .nan, ageSeconds: 0, jitterNanoseconds: 0)
    }

    @_noLocks @_noAllocation
    func setClock(uncertaintyPPM: Double, ageSeconds: Double, jitterNanoseconds: Double) {
        unsafe cells.pointee.driftUncertainty.store(uncertaintyPPM, ordering: .relaxed)
        unsafe cells.pointee.clockAge.store(ageSeconds, ordering: .relaxed)
        unsafe cells.pointee.clockJitter.store(jitterNanoseconds, ordering: .relaxed)
    }

    var counts: DirectionCounts {
        var counts = DirectionCounts()
        unsafe counts.frames = cells.pointee.frames.load(ordering: .relaxed)
        unsafe counts.xruns = cells.pointee.xruns.load(ordering: .relaxed)
        unsafe counts.underrunFrames = cells.pointee.underrunFrames.load(ordering: .relaxed)
        unsafe counts.overflowFrames = cells.pointee.overflowFrames.load(ordering: .relaxed)
        unsafe counts.clippedFrames = cells.pointee.clippedFrames.load(ordering: .relaxed)
        unsafe counts.wakeUps = cells.pointee.wakeUps.load(ordering: .relaxed)
        unsafe counts.worstLatenessNanoseconds = cells.pointee.worstLateness.load(ordering: .relaxed)
        unsafe counts.restarts = cells.pointee.restarts.load(ordering: .relaxed)
        let drift = unsafe cells.pointee.driftPPM.load(ordering: .relaxed)
        counts.driftPPM = drift.isNaN ? nil : drift
        unsafe counts.gapFrames = cells.pointee.gapFrames.load(ordering: .relaxed)
        unsafe counts.filledGapFrames = cells.pointee.filledGapFrames.load(ordering: .relaxed)
        unsafe counts.trims = cells.pointee.trims.load(ordering: .relaxed)
        let target = unsafe cells.pointee.fillTarget.load(ordering: .relaxed)
        counts.fillTargetFrames = target < 0 ? nil : target
        unsafe counts.fillTargetChanges = cells.pointee.fillTargetChanges.load(ordering: .relaxed)
        let uncertainty = unsafe cells.pointee.driftUncertainty.load(ordering: .relaxed)
        counts.driftUncertaintyPPM = uncertainty.isFinite ? uncertainty : nil
        unsafe counts.clockAgeSeconds = cells.pointee.clockAge.load(ordering: .relaxed)
        unsafe counts.clockJitterNanoseconds = cells.pointee.clockJitter.load(ordering: .relaxed)
        return counts
    }
}
