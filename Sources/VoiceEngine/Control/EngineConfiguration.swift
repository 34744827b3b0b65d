public import VoiceCoding
public import VoiceDevices
public import VoicePlayout
public import VoiceProcessing

/// What is fixed when the engine starts. What changes live has methods of its own: `setMuted`, `setVolume`,
/// `setProcessing`.
public struct EngineConfiguration: Sendable {
    /// Where the sound comes from and goes to.
    public var device: DeviceChoice
    /// Who processes the microphone.
    public var backend: ProcessingBackend
    /// What is done to the microphone to begin with.
    public var processing: ProcessingSettings
    /// How the microphone is encoded.
    public var encoder: OpusEncoderSettings
    /// How far that follows what listeners report of loss and delay.
    public var adaptation: SenderAdaptationPolicy
    /// What the codec optimises for.
    public var application: OpusApplication
    /// How the far end is played out.
    public var playout: PlayoutConfiguration
    /// How many talkers can be heard at once, 1...16. More may be in the room: those are played who are audible.
    public var maximumStreams: Int
    /// SCHED_FIFO priority of the media thread, 1...99, below that of the device's threads; 0 for the ordinary
    /// scheduler.
    public var mediaPriority: Int
    /// SCHED_FIFO priority of the network thread while in a room, 1...99, below ``mediaPriority``; 0 for the ordinary
    /// scheduler.
    public var networkPriority: Int
    /// What of the process's memory is locked against page faults.
    public var memoryLock: MemoryLock
    /// How long before it is played by the device a block is pulled: what the media thread may be late by.
    public var playoutMargin: PlayoutMargin
    /// What happens when a device goes away. Nil: ``RoutePolicy/followDefault`` for `default`, ``RoutePolicy/pinned``
    /// for another ALSA PCM, ``RoutePolicy/fixed`` for a custom device.
    public var routePolicy: RoutePolicy?
    /// What kind of loudspeaker to begin with; ``VoiceEngine/setRouteProfile(_:)`` changes it.
    public var routeProfile: RouteProfile
    /// A flight recorder from the start on; nil: none.
    public var recording: RecordingConfiguration?

    /// A configuration; what is not given is as in ``voiceChat``.
    public init(
        device: DeviceChoice = .systemDefault, backend: ProcessingBackend = .native,
        processing: ProcessingSettings = .voiceChat, encoder: OpusEncoderSettings = .voice,
        adaptation: SenderAdaptationPolicy = .adaptive, application: OpusApplication = .voip,
        playout: PlayoutConfiguration = .conversation,
        maximumStreams: Int = 8, mediaPriority: Int = 60, networkPriority: Int = 55,
        memoryLock: MemoryLock = .rings, playoutMargin: PlayoutMargin = PlayoutMargin(),
        routePolicy: RoutePolicy? = nil,
        routeProfile: RouteProfile = .automatic, recording: RecordingConfiguration? = nil
    ) {
        self.device = device
        self.backend = backend
        self.processing = processing
        self.encoder = encoder
        self.adaptation = adaptation
        self.application = application
        self.playout = playout
        self.maximumStreams = maximumStreams
        self.mediaPriority = mediaPriority
        self.networkPriority = networkPriority
        self.memoryLock = memoryLock
        self.playoutMargin = playoutMargin
        self.routePolicy = routePolicy
        self.routeProfile = routeProfile
        self.recording = recording
    }
}

extension EngineConfiguration {
    package func validate() throws(EngineError) {
        func require(_ holds: Bool, _ complaint: String) throws(EngineError) {
            guard holds else { throw .invalidConfiguration(complaint) }
        }
        try require(
            (1...StreamTable.maximumStreams).contains(maximumStreams), "maximumStreams is \(maximumStreams); use 1...16"
        )
        try require((0...99).contains(mediaPriority), "mediaPriority is \(mediaPriority); use 0...99")
        try require((0...99).contains(networkPriority), "networkPriority is \(networkPriority); use 0...99")
        try require(
            .zero <= playoutMargin.minimum && playoutMargin.minimum <= playoutMargin.initial
                && playoutMargin.initial <= playoutMargin.maximum && playoutMargin.maximum <= PlayoutMargin.limit,
            "playoutMargin is \(playoutMargin); use 0 <= minimum <= initial <= maximum <= \(PlayoutMargin.limit)")
        try require(
            .zero < playoutMargin.memory && playoutMargin.memory <= PlayoutMargin.memoryLimit,
            "playoutMargin.memory is \(playoutMargin.memory); use more than 0 and at most \(PlayoutMargin.memoryLimit)"
        )
        do throws(ProcessingError) { _ = try processing.validated() } catch { throw EngineError(error) }
        try adaptation.validate()
        do throws(OpusError) { try encoder.validate() } catch { throw EngineError(error) }
    }
}

/// What is kept in memory, so that no page fault interrupts the sound.
public enum MemoryLock: String, Equatable, Sendable {
    /// The rings between the engine's threads, 3.6 MB. Jitter buffers, codecs, filters and stacks are not; and the rest
    /// of the process is its own affair.
    case rings
    /// All memory that the process has or will have (`mlockall`), whoever it belongs to: for a program that is there
    /// for the sound. It needs an unlimited `memlock`, and nothing undoes it, ``VoiceEngine/stop()`` neither.
    case process
}

/// Where the sound comes from and goes to.
public enum DeviceChoice: Sendable {
    /// ALSA's `default`, for both directions.
    case systemDefault
    /// ALSA PCMs by name and with their periods.
    case alsa(ALSADeviceConfiguration)
    /// Any other device: files, the client's own sound, a simulation.
    case custom(any AudioDevice)
}
