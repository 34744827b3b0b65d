/// Follows a device's own clock: a delay-locked loop from the jittery times at which periods were seen to a smooth map of frames to
/// times, with the rate's deviation in ppm.
///
/// A second-order loop (F. Adriaensen, "Using a DLL to filter time", 2005). Value type; `update` is real-time safe.
@frozen
public struct DeviceClock: BitwiseCopyable, Sendable {
    /// Nominal frames per second.
    public let sampleRate: Int
    /// The widest error that still counts as jitter; a larger one is a jump, and the loop starts anew from it.
    public static let jumpNanoseconds: Double = 20_000_000

    private var nominal: Double
    private var period: Double
    private var predicted: Double = 0
    private var origin: Int64 = 0
    private var frames: Int = 0
    private var isRunning = false
    private var seconds: Double = 0
    /// How often the loop had to start anew because of a jump.
    public private(set) var jumps = 0

    /// A loop at rest for a device of `sampleRate` Hz.
    @_noLocks @_noAllocation
    public init(sampleRate: Int) {
        self.sampleRate = sampleRate
        nominal = 1e9 / Double(sampleRate)
        period = 1e9 / Double(sampleRate)
    }

    /// Takes note that the device's frame counter stood at `frame` at `time`, and returns the smoothed time of that frame.
    ///
    /// The loop's bandwidth falls from 0.5 Hz to 0.05 Hz over the first ten seconds: locks at once, then averages.
    @_noLocks @_noAllocation
    public mutating func update(frame: Int, time: MonotonicTime) -> MonotonicTime {
        guard isRunning else { return restart(frame: frame, time: time) }
        let advanced = Double(frame &- frames)
        let expected = predicted + advanced * period
        let error = Double(time.nanoseconds &- origin) - expected
        if error > Self.jumpNanoseconds || error < -Self.jumpNanoseconds || advanced <= 0 {
            jumps += 1
            return restart(frame: frame, time: time)
        }
        let elapsed = advanced * nominal * 1e-9
        seconds += elapsed
        let bandwidth = 0.05 + 0.45 / (1 + seconds * seconds * 0.1)
        let omega = 2 * Double.pi * bandwidth * elapsed
        predicted = expected + 1.414_213_56 * omega * error
        period += omega * omega * error / advanced
        frames = frame
        return MonotonicTime(nanoseconds: origin &+ Int64(predicted))
    }

    /// The smoothed time of `frame`, which may lie a little ahead of or behind the last update.
    @_noLocks @_noAllocation
    public func time(ofFrame frame: Int) -> MonotonicTime {
        MonotonicTime(nanoseconds: origin &+ Int64(predicted + Double(frame &- frames) * period))
    }

    /// How much faster than nominal the device runs, in parts per million of the monotonic clock.
    public var driftPPM: Double {
        @_noLocks @_noAllocation get { (nominal / period - 1) * 1e6 }
    }

    @_noLocks @_noAllocation
    private mutating func restart(frame: Int, time: MonotonicTime) -> MonotonicTime {
        isRunning = true
        origin = time.nanoseconds
        predicted = 0
        frames = frame
        seconds = 0
        period = nominal
        return time
    }
}
