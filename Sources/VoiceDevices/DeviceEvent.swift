/// Something that happened to a running device. Nothing here ends it but `disconnected` and `failed`.
public enum DeviceEvent: Equatable, Sendable {
    /// The device ran over (capture) or dry (playback); it is being started anew.
    case xrun(DeviceDirection)
    /// The system suspended the device; it is being resumed.
    case suspended(DeviceDirection)
    /// The stream runs again after an xrun or a suspend.
    case recovered(DeviceDirection)
    /// `frames` frames (of 48 kHz) of a capture backlog were skipped: the thread was held up, and they were too old to
    /// be of use.
    case trimmed(DeviceDirection, frames: Int)
    /// The latency tuning keeps another number of frames (of 48 kHz) queued before the DAC: more after an xrun, fewer
    /// after quiet.
    case fillTargetChanged(frames: Int)
    /// The device is gone; this direction has ended. Stop it and start another.
    case disconnected(DeviceDirection)
    /// This direction has ended for a reason that trying again did not cure.
    case failed(DeviceDirection, DeviceError)
    /// SCHED_FIFO was refused (`errno`): the direction runs at ordinary priority and will drop out under load. Grant
    /// `rtprio`.
    case schedulingRefused(DeviceDirection, errno: Int32)
    /// The input file has been played to its end.
    case endOfInput
    /// `frames` frames of input came too late from the disk; silence stood in for them, and they are skipped when they
    /// come.
    case inputLate(frames: Int)
    /// `frames` frames of output were lost because the disk did not keep up; silence stands in for them.
    case outputLost(frames: Int)
}
