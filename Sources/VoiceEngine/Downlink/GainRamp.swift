/// A gain that moves without a click: each change is spread linearly over 5 ms, short enough to feel immediate, or over
/// a longer time.
struct GainRamp: BitwiseCopyable {
    /// 5 ms at 48 kHz.
    static let rampFrames = 240

    private(set) var current: Float
    private var target: Float
    private var step: Float = 0

    init(_ gain: Float) {
        current = gain
        target = gain
    }

    /// Moves towards `gain` from here on.
    mutating func move(to gain: Float, over frames: Int = rampFrames) {
        target = gain
        step = (gain - current) / Float(frames)
    }

    /// True when nothing would be heard and no ramp is under way.
    var isSilent: Bool { current == 0 && target == 0 }

    /// Scales `frames` in place.
    mutating func apply(to frames: inout MutableSpan<Float>) {
        var index = 0
        while current != target, index < frames.count {
            current += step
            if (step > 0 && current > target) || (step < 0 && current < target) || step == 0 { current = target }
            frames[index] *= current
            index += 1
        }
        guard current != 1 else { return }
        while index < frames.count {
            frames[index] *= current
            index += 1
        }
    }
}
