public import VoiceRealtime

/// Where a device hands over what its microphone heard: into the capture ring, 48 kHz mono Float32, full scale +-1.
///
/// One device thread owns it. Overflow: what the ring cannot take is dropped, newest first, and counted in
/// ``DirectionCounts/overflowFrames``.
@safe
public struct CapturePort: ~Copyable, @unchecked Sendable {
    /// Where this port counts.
    package let counters: DeviceCounters
    private var ring: FrameProducer
    private let cells: CounterCells
    private let wake: WakeHandle
    /// Never touched: it keeps the handle's descriptor open.
    private let signal: WakeSignal
    /// Where the port returns to when it is let go; nil for a port that is nobody's but its device's.
    var dock: PortDock<CapturePort>?

    /// A port that writes into `ring` and signals `wake`, the media thread's, after each delivery. Not real-time safe.
    package init(ring: consuming FrameProducer, wake: WakeSignal, counters: DeviceCounters) {
        self.ring = ring
        self.wake = wake.handle
        signal = wake
        cells = counters.capture
        self.counters = counters
    }

    deinit {
        guard let dock else { return }
        dock.takeBack(CapturePort(ring: ring, wake: signal, counters: counters))
    }

    /// Hands over `frames`, the first of which was at the ADC at `adcTime`, and wakes the media thread. Returns how
    /// many were taken. A time that no clock can tell is taken for the nearest that one can (0 to 36 years).
    ///
    /// Real-time safe: wait-free but for one non-blocking system call.
    @_noLocks @_noAllocation
    @discardableResult
    public mutating func deliver(_ frames: Span<Float>, adcTime: MonotonicTime) -> Int {
        let count = frames.count
        let taken = ring.write(frames, time: adcTime.possible)
        cells.addFrames(count)
        if taken < count { cells.addOverflow(count - taken) }
        wake.signal()
        return taken
    }

    /// The same from a `MutableSpan`, for callers that are themselves `@_noLocks`: the compiler rejects a `Span` made
    /// on the spot there.
    @_noLocks @_noAllocation
    @discardableResult
    public mutating func deliver(_ frames: borrowing MutableSpan<Float>, adcTime: MonotonicTime) -> Int {
        let count = frames.count
        let taken = ring.write(frames, time: adcTime.possible)
        cells.addFrames(count)
        if taken < count {
            ring.drop(count - taken)
            cells.addOverflow(count - taken)
        }
        wake.signal()
        return taken
    }

    /// Counts an overrun of the device itself. Real-time safe.
    @_noLocks @_noAllocation
    public func recordXrun() { cells.addXrun() }

    /// Counts a restart of the stream. Real-time safe.
    @_noLocks @_noAllocation
    public func recordRestart() { cells.addRestart() }

    /// Counts a wake-up of the device thread, `latenessNanoseconds` after it was due. Real-time safe.
    @_noLocks @_noAllocation
    public func recordWakeUp(latenessNanoseconds: Int64) { cells.addWakeUp(latenessNanoseconds: latenessNanoseconds) }

    /// Publishes how much faster than nominal the device's clock runs. Real-time safe.
    @_noLocks @_noAllocation
    public func recordDrift(ppm: Double) { cells.setDrift(ppm: ppm) }

    /// Publishes how well the device's clock is known: one standard deviation of its drift, for how long its rate has
    /// been learnt, and the mean jitter of its times. Real-time safe.
    @_noLocks @_noAllocation
    public func recordClock(uncertaintyPPM: Double, ageSeconds: Double, jitterNanoseconds: Double) {
        cells.setClock(
            uncertaintyPPM: uncertaintyPPM, ageSeconds: ageSeconds, jitterNanoseconds: jitterNanoseconds)
    }

    /// Counts frames that the microphone heard and that will not be delivered; with `trimmed` because they were too old
    /// to be of use. To be counted before the next delivery, whose time shows the gap. Real-time safe.
    @_noLocks @_noAllocation
    public func recordGap(frames: Int, trimmed: Bool = false) {
        cells.addGap(frames)
        if trimmed { cells.addTrim() }
    }
}
