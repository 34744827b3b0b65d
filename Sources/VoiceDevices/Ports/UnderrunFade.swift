/// Hides the edges of a gap in the playout: what was last heard is played backwards into a fade, and what comes next
/// fades in.
///
/// Playing the last milliseconds backwards starts on the very sample that was heard last, so that there is no step, and
/// keeps the sound's own colour while it dies away. No frame that was really there is altered before a gap, since a gap
/// is known only when it has come.
@safe
package struct UnderrunFade: ~Copyable {
    /// Long enough not to click, short enough not to sound like an echo.
    static var milliseconds: Int { @_noLocks @_noAllocation get { 5 } }
    /// The same in frames at 48 kHz.
    package static var frames: Int { @_noLocks @_noAllocation get { milliseconds * 48 } }

    /// From 1 down to 0 along half a cosine; its complement is the fade-in, so that the two always add up to 1.
    private let curve: UnsafeMutablePointer<Float>
    /// The last frames heard, the newest last.
    private let history: UnsafeMutablePointer<Float>
    /// The history backwards, faded.
    private let tail: UnsafeMutablePointer<Float>
    private var tailPosition = frames
    private var risePosition = frames
    /// From the start, as nothing has been heard that could break off; and what comes first is left as it is.
    private var isStarved = true

    package init() {
        unsafe curve = .allocate(capacity: Self.frames)
        unsafe history = .allocate(capacity: Self.frames)
        unsafe tail = .allocate(capacity: Self.frames)
        unsafe history.initialize(repeating: 0, count: Self.frames)
        unsafe tail.initialize(repeating: 0, count: Self.frames)
        // Built without libm: the rotation by a constant angle is exact enough over 240 steps in Double.
        let step = Double.pi / Double(Self.frames)
        let (sine, cosine) = (step - step * step * step / 6, 1 - step * step / 2 + step * step * step * step / 24)
        var (x, y) = (1.0, 0.0)
        for index in 0..<Self.frames {
            unsafe (curve + index).initialize(to: Float(0.5 + 0.5 * x))
            (x, y) = (x * cosine - y * sine, x * sine + y * cosine)
        }
    }

    deinit {
        unsafe curve.deallocate()
        unsafe history.deallocate()
        unsafe tail.deallocate()
    }

    /// Completes `output`, of which only the first `given` frames hold sound. Real-time safe.
    @_noLocks @_noAllocation
    package mutating func complete(_ output: inout MutableSpan<Float>, given: Int) {
        let count = output.count
        if given > 0 { isStarved = false }
        var index = 0
        while index < given, risePosition < Self.frames {
            unsafe output[index] *= 1 - curve[risePosition]
            risePosition += 1
            index += 1
        }
        addTail(to: &output, from: 0, to: given)
        remember(output, from: 0, to: given)
        guard given < count else { return }
        if !isStarved { breakOff() }
        index = given
        while index < count {
            output[index] = 0
            index += 1
        }
        addTail(to: &output, from: given, to: count)
        remember(output, from: given, to: count)
    }

    /// Begins a gap on the frame after the last one heard. Real-time safe.
    @_noLocks @_noAllocation
    package mutating func breakOff() {
        var index = 0
        while index < Self.frames {
            unsafe tail[index] = history[Self.frames - 1 - index] * curve[index]
            index += 1
        }
        tailPosition = 0
        risePosition = 0
        isStarved = true
    }

    /// Makes the fade as new: nothing has been heard, and what comes next is left as it is. Real-time safe.
    @_noLocks @_noAllocation
    package mutating func reset() {
        var index = 0
        while index < Self.frames {
            unsafe history[index] = 0
            index += 1
        }
        tailPosition = Self.frames
        risePosition = Self.frames
        isStarved = true
    }

    /// How many frames of a fade-out are still to come.
    package var tailFrames: Int { @_noLocks @_noAllocation get { Self.frames - tailPosition } }

    /// Forgets what was heard: what comes next fades in from silence.
    mutating func beginAnew() {
        unsafe history.update(repeating: 0, count: Self.frames)
        tailPosition = Self.frames
        risePosition = 0
        isStarved = true
    }

    @_noLocks @_noAllocation
    private mutating func addTail(to output: inout MutableSpan<Float>, from start: Int, to end: Int) {
        var index = start
        while index < end, tailPosition < Self.frames {
            unsafe output[index] += tail[tailPosition]
            tailPosition += 1
            index += 1
        }
    }

    @_noLocks @_noAllocation
    private mutating func remember(_ output: borrowing MutableSpan<Float>, from start: Int, to end: Int) {
        let count = end - start
        guard count > 0 else { return }
        let kept = max(Self.frames - count, 0)
        if kept > 0 {
            unsafe UnsafeMutableRawPointer(history).copyMemory(
                from: history + (Self.frames - kept), byteCount: kept * MemoryLayout<Float>.stride)
        }
        var index = kept
        while index < Self.frames {
            unsafe history[index] = output[end - Self.frames + index]
            index += 1
        }
    }
}
