public import VoiceRealtime

/// Where a device fetches what its loudspeaker is to play: from the playout ring, through the final gain, and on into
/// the reference ring.
///
/// One device thread owns it. Underrun: faded out, filled with silence, faded in again, counted in
/// ``DirectionCounts/underrunFrames``. Overflow of the reference ring: the newest frames are dropped and counted; the
/// times of the next ones tell its reader of the gap.
@safe
public struct PlaybackPort: ~Copyable, @unchecked Sendable {
    /// Where this port counts.
    package let counters: DeviceCounters
    private var playout: FrameConsumer
    private var reference: FrameProducer
    private var fade = UnderrunFade()
    private let cells: CounterCells
    private let control: PlaybackControlCells
    private let wake: WakeHandle
    private var gain: Float
    private var taken = 0
    private var hasBegun = false
    private var tapsOutput = true
    /// Never touched: they keep what the handles point to.
    private let signal: WakeSignal
    private let controlOwner: PlaybackControl
    /// Where it is told which frames of the playout ring leave the DAC when; nil where nobody asks. Overflow: the
    /// newest is dropped.
    package var rendered: ValueProducer<RenderedSpan>?
    /// Where the port returns to when it is let go; nil for a port that is nobody's but its device's.
    var dock: PortDock<PlaybackPort>?

    /// Silence up to this long is put into the reference, in frames: 250 ms, which a ring of usual size has room for.
    static var longestReferenceGap: Int { @_noLocks @_noAllocation get { 12_000 } }
    /// The steepest change of gain in each frame: 1 within 10 ms.
    static var gainStep: Float { @_noLocks @_noAllocation get { 1.0 / 480 } }

    /// A port from `playout` to the device and into `reference`, which signals `wake`, the media thread's, after each
    /// fetch. Not real-time safe.
    package init(
        playout: consuming FrameConsumer, reference: consuming FrameProducer, wake: WakeSignal,
        control: PlaybackControl,
        counters: DeviceCounters
    ) {
        self.playout = playout
        self.reference = reference
        self.wake = wake.handle
        signal = wake
        self.control = control.cells
        controlOwner = control
        gain = control.gain
        cells = counters.playback
        self.counters = counters
    }

    deinit {
        guard let dock else { return }
        var returned = PlaybackPort(
            playout: playout, reference: reference, wake: signal, control: controlOwner, counters: counters)
        // The writer counts frames on over the change of devices; and the next device's client may hand in no
        // reference.
        returned.taken = taken
        returned.gain = gain
        returned.hasBegun = hasBegun
        returned.fade.beginAnew()
        returned.rendered = rendered
        dock.takeBack(returned)
    }

    /// Fills `output`, whose first frame will be at the DAC at `dacTime`, and wakes the media thread. Returns how many
    /// of the frames came from the playout ring; the rest is silence or fade. A time that no clock can tell is taken
    /// for the nearest that one can (0 to 36 years).
    ///
    /// Real-time safe: wait-free but for one non-blocking system call. What is in `output` afterwards is within +-1 and
    /// finite, and is in the reference ring bit for bit.
    @_noLocks @_noAllocation
    @discardableResult
    public mutating func render(into output: inout MutableSpan<Float>, dacTime: MonotonicTime) -> Int {
        let dacTime = dacTime.possible
        let given = playout.read(into: &output)
        taken += given
        if given > 0 {
            hasBegun = true
            rendered?.push(RenderedSpan(firstFrame: taken - given, frames: given, dacTime: dacTime))
        }
        fade.complete(&output, given: given)
        applyGain(to: &output)
        cells.addFrames(output.count)
        if hasBegun && given < output.count { cells.addUnderrun(output.count - given) }
        if tapsOutput { tap(output, dacTime: dacTime) }
        wake.signal()
        return given
    }

    /// Puts `frames`, played by other means and at the DAC at `dacTime`, into the reference ring. Returns how many were
    /// taken.
    ///
    /// From the first call on, ``render(into:dacTime:)`` no longer writes to the reference ring. Real-time safe, like
    /// it, and to be called from the same thread.
    @_noLocks @_noAllocation
    @discardableResult
    public mutating func deliverReference(_ frames: Span<Float>, dacTime: MonotonicTime) -> Int {
        tapsOutput = false
        let count = frames.count
        let written = reference.write(frames, time: dacTime.possible)
        if written < count { cells.addOverflow(count - written) }
        wake.signal()
        return written
    }

    /// The same from a `MutableSpan`, as ``CapturePort/deliver(_:adcTime:)-(MutableSpan<Float>,_)`` has it.
    @_noLocks @_noAllocation
    @discardableResult
    public mutating func deliverReference(_ frames: borrowing MutableSpan<Float>, dacTime: MonotonicTime) -> Int {
        tapsOutput = false
        let count = frames.count
        let written = reference.write(frames, time: dacTime.possible)
        if written < count {
            reference.drop(count - written)
            cells.addOverflow(count - written)
        }
        wake.signal()
        return written
    }

    @_noLocks @_noAllocation
    private mutating func applyGain(to output: inout MutableSpan<Float>) {
        let target = control.gain
        var clipped = 0
        var index = 0
        let count = output.count
        while index < count {
            if gain != target {
                let difference = target - gain
                gain =
                    abs(difference) <= Self.gainStep ? target : gain + (difference > 0 ? Self.gainStep : -Self.gainStep)
            }
            let sample = output[index] * gain
            // The converter would clip as well, and what is not a number must never reach a loudspeaker.
            let limited: Float = sample > 1 ? 1 : sample >= -1 ? sample : sample < -1 ? -1 : 0
            if limited != sample { clipped += 1 }
            output[index] = limited
            index += 1
        }
        if clipped > 0 { cells.addClipped(clipped) }
    }

    @_noLocks @_noAllocation
    private mutating func tap(_ output: borrowing MutableSpan<Float>, dacTime: MonotonicTime) {
        let count = output.count
        let written = reference.write(output, time: dacTime)
        if written < count {
            reference.drop(count - written)
            cells.addOverflow(count - written)
        }
    }

    /// Counts an underrun of the device itself. Real-time safe.
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

    /// Publishes how many frames are to lie queued before the DAC; a change is counted. Real-time safe.
    @_noLocks @_noAllocation
    public func recordFillTarget(frames: Int) { cells.setFillTarget(frames) }

    /// Counts `frames` frames of silence that sounded, or will, between what was rendered last and what comes next, and
    /// puts them into the reference ring, so that its frames and their times go on together. `dacTime` is that of the
    /// first.
    ///
    /// A gap of more than a quarter of a second, or one that the ring cannot take, is left to the times to tell.
    /// Real-time safe; to be called from the same thread as ``render(into:dacTime:)``.
    @_noLocks @_noAllocation
    public mutating func recordGap(frames: Int, dacTime: MonotonicTime) {
        guard frames > 0 else { return }
        cells.addGap(frames)
        guard tapsOutput, frames <= Self.longestReferenceGap else { return }
        if reference.writeSilence(frames, time: dacTime.possible) { cells.addFilledGap(frames) }
    }
}
