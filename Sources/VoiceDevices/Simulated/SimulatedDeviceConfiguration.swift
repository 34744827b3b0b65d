public import VoiceRealtime

/// The shape and the clock of a ``SimulatedDevice``.
public struct SimulatedDeviceConfiguration: Equatable, Sendable {
    /// What makes the device's time pass.
    public enum Pacing: Equatable, Sendable {
        /// The system's monotonic clock, on a thread of its own that asks for SCHED_FIFO at `priority` (1 to 99; 0:
        /// does not ask).
        case realTime(priority: Int)
        /// Calls of ``SimulatedDevice/advance(to:)``; the device starts at `start`, and never reads a clock.
        case virtual(start: MonotonicTime)
    }

    /// Frames of a period, at 48 kHz. The device thread wakes once for each.
    public var periodFrames = 240
    /// Periods of the playback buffer, at least 2. The way through the device is `periods * periodFrames` frames long.
    public var periods = 2
    /// How much faster than nominal the device's clock runs, in parts per million, -10,000 to 10,000.
    public var driftPPM = 0.0
    /// What makes time pass.
    public var pacing: Pacing

    /// 5 ms periods, two of them, and a perfect clock.
    public init(pacing: Pacing) { self.pacing = pacing }

    func validate() throws(DeviceError) {
        guard periodFrames >= 1, periodFrames <= 48_000 else {
            throw .invalidConfiguration(message: "a period of \(periodFrames) frames; 1 to 48,000 are possible")
        }
        guard periods >= 2, periods <= 1_000 else {
            throw .invalidConfiguration(message: "a buffer of \(periods) periods; 2 to 1,000 are possible")
        }
        guard abs(driftPPM) <= 10_000 else {
            throw .invalidConfiguration(message: "a clock that is \(driftPPM) ppm fast; -10,000 to 10,000 are possible")
        }
        if case .realTime(let priority) = pacing, !(0...99).contains(priority) {
            throw .invalidConfiguration(message: "a SCHED_FIFO priority of \(priority); 0 to 99 are possible")
        }
    }
}
