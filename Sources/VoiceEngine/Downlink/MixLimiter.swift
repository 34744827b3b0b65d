internal import VoiceSignal

/// Keeps the sum of several talkers below full scale.
///
/// Looks at a whole block before it goes out: the gain falls to what the block's peak needs over the block's first
/// millisecond, and comes back with a time constant of 100 ms. One talker alone at a sane level passes untouched.
struct MixLimiter: BitwiseCopyable {
    /// -0.2 dBFS: leaves room for the overshoot of later resampling.
    static let ceiling: Float = 0.977
    /// 1 ms at 48 kHz.
    static let attackFrames = 48
    /// Share of the way back to unity for each 10 ms: `1 - exp(-10 / 100)`.
    static let releaseFor10Milliseconds: Float = 0.0952

    private(set) var gain: Float = 1

    mutating func apply(to frames: inout MutableSpan<Float>) {
        let peak = peak(of: frames.span)
        let release = Self.releaseFor10Milliseconds * Float(frames.count) / 480
        let target = min(gain + (1 - gain) * release, peak > Self.ceiling ? Self.ceiling / peak : 1)
        guard gain != 1 || target != 1 else { return }
        let ramp = target < gain ? min(Self.attackFrames, frames.count) : frames.count
        let step = (target - gain) / Float(max(ramp, 1))
        for index in 0..<frames.count {
            gain = index < ramp ? gain + step : target
            // The attack may still be under way where the peak already is.
            frames[index] = min(max(frames[index] * gain, -1), 1)
        }
        gain = target > 0.9999 ? 1 : target
    }
}
