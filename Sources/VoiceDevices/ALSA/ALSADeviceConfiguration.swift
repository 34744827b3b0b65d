/// Which sound card to use and how.
public struct ALSADeviceConfiguration: Equatable, Sendable {
    /// The PCM to capture from, such as `default` or `hw:1,0`; nil for no capture.
    public var captureName: String?
    /// The PCM to play to; nil for no playback.
    public var playbackName: String?
    /// Frames at 48 kHz that are moved at a time. The device may only offer something near it.
    public var periodFrames = 240
    /// Periods that are queued before the DAC, at least 2. The way through the card is this many periods.
    public var playbackPeriods = 2
    /// The most periods that the latency tuning may queue after xruns, where the device's buffer holds them; no more
    /// than ``playbackPeriods`` turns it off.
    public var maximumPlaybackPeriods = 8
    /// How long it must be quiet before the latency tuning takes a period away again; doubled each time that it was
    /// missed soon after, up to 64 times. At least a second.
    public var latencyTuningQuiet = LatencyTuner.usualQuiet
    /// Periods of the capture buffer, at least 2. A period is read as soon as it is there, so that a longer buffer adds
    /// no delay: it only keeps what comes while the thread is late.
    public var capturePeriods = 40
    /// Sound that the capture thread is too late for by more than this is skipped; what is younger is still handed on,
    /// in a burst.
    ///
    /// 40 ms: two frames of the codec, which a far end conceals; what comes later still it has no use for.
    public var captureBacklogLimit = Duration.milliseconds(40)
    /// What becomes of several capture channels.
    ///
    /// The first two, because what follows is often no microphone: interfaces hand back what they play, and arrays what
    /// they hear of it, as further channels. A microphone on other inputs is named, as ``ChannelMix/channel(_:)`` 2 for
    /// the third, of a PCM that has the inputs as they are: `hw:`. It is of the PCM that is named here: another that
    /// takes its place while the engine runs is opened with the first two.
    public var captureChannels = ChannelMix.firstTwo
    /// SCHED_FIFO priority of the playback thread, 0 to 99; 0 does not ask for it.
    ///
    /// 72: below the interrupt threads that a PREEMPT_RT kernel is often tuned to (80 and up), above its default 50,
    /// which all drivers but the sound card's may wait at; and above the capture thread and the engine's media thread,
    /// because playback has the shorter deadline (its buffer is what the listener waits for) and the least work.
    public var playbackPriority = 72
    /// SCHED_FIFO priority of the capture thread, 0 to 99. 71: one below playback, whose deadline is shorter.
    public var capturePriority = 71

    /// Whether a device that runs ahead of the monotonic clock is held back to it. False for one whose time is not
    /// ours: a simulated one.
    var holdsToMonotonicClock = true

    /// Both directions of `name`, in periods of 5 ms.
    public init(_ name: String = "default") {
        captureName = name
        playbackName = name
    }

    /// The given directions, in periods of 5 ms.
    public init(capture: String?, playback: String?) {
        captureName = capture
        playbackName = playback
    }

    /// Both directions of `default`, as short as a sound card can be held without gaps: periods of 2.5 ms, and a second
    /// of quiet before a period that an xrun has added is taken away again. A machine that stalls now and then has a
    /// gap each time, and no lasting delay.
    public static let lowDelay: ALSADeviceConfiguration = {
        var card = ALSADeviceConfiguration()
        card.periodFrames = 120
        card.latencyTuningQuiet = .seconds(1)
        return card
    }()

    func validate() throws(DeviceError) {
        if captureName == nil && playbackName == nil {
            throw .invalidConfiguration(message: "neither capture nor playback is named")
        }
        guard (8...48_000).contains(periodFrames) else {
            throw .invalidConfiguration(message: "a period of \(periodFrames) frames; 8 to 48,000 are possible")
        }
        guard (2...1_000).contains(playbackPeriods), (2...1_000).contains(capturePeriods),
            maximumPlaybackPeriods <= 1_000
        else {
            throw .invalidConfiguration(message: "a buffer of fewer than 2 or more than 1,000 periods")
        }
        guard (Duration.zero...Duration.seconds(3_600)).contains(captureBacklogLimit) else {
            throw .invalidConfiguration(message: "a backlog limit of \(captureBacklogLimit); 0 to an hour is possible")
        }
        guard (Duration.seconds(1)...Duration.seconds(3_600)).contains(latencyTuningQuiet) else {
            throw .invalidConfiguration(message: "tuning after \(latencyTuningQuiet); 1 s to an hour is possible")
        }
        guard (0...99).contains(playbackPriority), (0...99).contains(capturePriority) else {
            throw .invalidConfiguration(message: "SCHED_FIFO priorities go from 1 to 99; 0 does without")
        }
        try captureChannels.validate()
    }
}
