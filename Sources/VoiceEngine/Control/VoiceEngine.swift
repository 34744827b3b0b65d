public import VoiceDevices
public import VoiceProcessing
internal import VoiceRealtime
public import VoiceRooms

/// A duplex voice engine: microphone in, echo cancelled, noise suppressed, level controlled, to a room; the room's
/// voices back, played, and what is played fed to the canceller.
///
///     let engine = VoiceEngine(.voiceChat)
///     try await engine.start()
///     try await engine.join(RoomEndpoint(url: url, token: token))
///
/// The actor is the control side: every method may be called from any task, and none of them touches audio. It runs on
/// a thread of its own, which may wait for a device, so that Swift's cooperative pool never does. Sound runs on others
/// (capture, playback, media, network), which the actor starts and stops. Letting the engine go stops everything.
public actor VoiceEngine {
    /// What was asked for at the start.
    public nonisolated let configuration: EngineConfiguration
    private nonisolated let control = ControlThread()
    nonisolated let broadcast = EventBroadcast()
    private var running: Running?
    var room: RoomMembership?
    /// What was asked of streams, which outlives the room.
    var requests = StreamRequests()
    /// Carries the room's events here.
    var follower: Task<Void, Never>?
    /// Waits until something is due in the room: texts, and what is asked again.
    var roomTimer: Task<Void, Never>?
    /// The volume that was asked for, and what follows the noise below it.
    var outputVolume: Float = 1
    var noiseFollower: NoiseFollower?
    var noiseTimer: Task<Void, Never>?
    /// How talkers are brought to like loudness.
    var talkerLevelling: TalkerLevelling?
    private var isMuted: Bool { requests.presence.isMuted }
    private var muteKind = MuteKind.stop
    private var lastRecording: RecordingStatus?

    /// What exists between `start()` and `stop()`.
    private struct Running {
        let media: MediaThread
        let core: EngineCore
        let forwarder: EventForwarder
        let routes: RouteThread

        /// Ends the threads and gives the device back. Blocks.
        func halt() {
            routes.stop()
            core.stopDevice()
            media.stop()
            core.recorder?.stop()
            forwarder.stop()
        }
    }

    /// An engine that is configured and does nothing yet.
    public init(_ configuration: EngineConfiguration = .voiceChat) {
        self.configuration = configuration
    }

    deinit {
        // Whoever lets the engine go need not wait for its threads.
        if let running { control.perform { running.halt() } }
    }

    /// The control thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe control.asUnownedSerialExecutor() }

    /// Does `body` on the control thread and holds the caller's own thread up until it is done: for callers without
    /// Swift's concurrency, as those of the C library.
    ///
    /// - Throws: ``EngineError/calledFromEngineThread`` on a thread of an engine's, as callbacks are; with nothing done.
    package nonisolated func wait<Outcome: Sendable>(
        for body: @escaping @Sendable (isolated VoiceEngine) -> Outcome
    ) throws(EngineError) -> Outcome {
        try control.wait { self.assumeIsolated { body($0) } }
    }

    /// The same of what suspends, as ``join(_:configuration:)`` does: other calls are served meanwhile.
    package nonisolated func wait<Outcome: Sendable>(
        untilDone body: @escaping @Sendable (isolated VoiceEngine) async -> Outcome
    ) throws(EngineError) -> Outcome {
        try control.waitForAnswer { outcome in
            // On the control thread from its first step on, so that callers who hold up threads of Swift's pool do not
            // lack them.
            control.perform {
                self.assumeIsolated { engine in _ = Task<Void, Never> { outcome.give(await body(engine)) } }
            }
        }
    }

    /// The events from now on, for one listener; see ``EventStream``.
    public nonisolated var events: EventStream { broadcast.listen() }

    /// What the engine is doing, and who is in the room.
    public var snapshot: EngineSnapshot {
        let conditions = broadcast.conditions
        var snapshot = EngineSnapshot(
            isRunning: running != nil, isMuted: isMuted, formats: running?.core.formats, route: route,
            isSpeaking: conditions.isSpeaking, echoReadiness: conditions.echoReadiness,
            farEnds: core?.farEnds.openFarEnds ?? [], isConversing: core?.isConversing ?? false, connection: .outside,
            room: nil, own: nil, others: [])
        for stream in requests.played.keys { snapshot.streams[stream] = requests.state(of: stream) }
        room?.describe(&snapshot, conditions)
        return snapshot
    }

    /// What has become of the recording that the configuration asks for, the last one where the engine does not run any
    /// more; nil without one.
    public var recording: RecordingStatus? { running?.core.recorder?.status ?? lastRecording }

    /// What runs; nil while the engine does not.
    var core: EngineCore? { running?.core }

    // MARK: Running

    /// Opens the device and starts the sound. Returns what the device granted, requested and active.
    ///
    /// - Throws: ``EngineError/device(_:)``, ``EngineError/invalidConfiguration(_:)``,
    ///   ``EngineError/resourcesExhausted(_:)``, ``EngineError/alreadyStarted``.
    @discardableResult
    public func start() throws(EngineError) -> DeviceFormats {
        guard running == nil else { throw .alreadyStarted }
        let broadcast = broadcast
        if configuration.memoryLock == .process {
            do throws(ThreadError) { try RealtimeLimits.lockMemory() } catch {
                if case .refused(let errno) = error { broadcast.post(.degraded(.memoryNotLocked(errno: errno))) }
            }
        }
        _ = RealtimeLimits.takeRingLockRefusal()
        let forwarder = try EventForwarder()
        let core = try EngineCore(configuration, keepsDeadlines: true, eventWake: forwarder.wake) {
            broadcast.post(.device($0))
        }
        if configuration.memoryLock == .rings, let errno = RealtimeLimits.takeRingLockRefusal() {
            broadcast.post(.degraded(.memoryNotLocked(errno: errno)))
        }
        try core.recorder?.start()
        defer { if running == nil { core.recorder?.stop() } }
        let media = try MediaThread(core, priority: configuration.mediaPriority)
        // It signals the forwarder until it ends.
        defer { if running == nil { withExtendedLifetime(forwarder) { media.stop() } } }
        if case .ordinaryAfterRefusal(let errno) = media.scheduling {
            broadcast.post(.degraded(.noRealtimePriority(errno: errno)))
        }
        // In order, which tasks would not keep.
        try forwarder.start(core, broadcast) { [weak self, control] event in
            control.perform { [weak self] in self?.assumeIsolated { $0.room?.take(event) } }
        }
        let routes = try RouteThread(core, broadcast)
        running = Running(media: media, core: core, forwarder: forwarder, routes: routes)
        if let talkerLevelling { try core.send(.levelTalkers(talkerLevelling)) }
        if isMuted {
            try core.send(.setMuteKind(muteKind))
            try core.send(.setMuted(true))
        }
        return core.formats
    }

    /// Leaves the room, stops the sound and gives the device back. Does nothing where the engine is not running. Takes
    /// at most the device's ``AudioDevice/stopLimit`` and the room's closing time.
    public func stop() async {
        // A join that was asked for meanwhile is left as well.
        while room != nil { await leave() }
        guard let running = running.take() else { return }
        noiseTimer?.cancel()
        requests.presence.outgoing = [:]
        (noiseTimer, noiseFollower, outputVolume) = (nil, nil, 1)
        running.halt()
        lastRecording = running.core.recorder?.status
        broadcast.forgetConditions()
    }

    // MARK: While it runs

    /// Mutes or unmutes the microphone, with a 5 ms fade; the room is told. What is sent while muted is the kind's,
    /// nothing unless given otherwise, and the canceller goes on learning. May be called before `start()`.
    ///
    /// - Throws: ``EngineError/overloaded``, and nothing has changed; ``EngineError/requestRefused(_:)`` where only the
    ///   room could not be told, which is tried again.
    public func setMuted(_ muted: Bool, as kind: MuteKind = .stop) throws(EngineError) {
        if muted, let core = running?.core { try core.send(.setMuteKind(kind)) }
        try running?.core.send(.setMuted(muted))
        requests.presence.isMuted = muted
        if muted { muteKind = kind }
        defer { carryOn() }
        try room?.setMuted(muted)
    }

    /// Scales what is heard of a participant, as long as it stays: 0 silences, 1 leaves it, up to 4 (+12 dB).
    ///
    /// - Throws: ``EngineError/invalidConfiguration(_:)``, ``EngineError/notJoined``,
    ///   ``EngineError/unknownParticipant(_:)``, ``EngineError/overloaded``.
    public func setVolume(_ volume: Float, for participant: ParticipantID) throws(EngineError) {
        guard (0...4).contains(volume) else { throw .invalidConfiguration("the volume is \(volume); use 0...4") }
        try membership.setVolume(volume, for: participant)
    }

    /// Scales everything that is played, 0 to 1, the echo reference included, until the engine stops.
    ///
    /// - Throws: ``EngineError/invalidConfiguration(_:)``, ``EngineError/notStarted``.
    public func setOutputVolume(_ volume: Float) throws(EngineError) {
        guard (0...1).contains(volume) else { throw .invalidConfiguration("the volume is \(volume); use 0...1") }
        guard let core = running?.core else { throw .notStarted }
        outputVolume = volume
        applyVolume(core)
    }

    /// Changes what is done to the microphone, from the next block on and without a gap, until the engine stops.
    ///
    /// - Throws: what is wrong with the settings, ``EngineError/notStarted``, ``EngineError/overloaded``.
    public func setProcessing(_ settings: ProcessingSettings) throws(EngineError) {
        do throws(ProcessingError) { _ = try settings.validated() } catch { throw EngineError(error) }
        guard let core = running?.core else { throw .notStarted }
        try core.setProcessing(settings)
    }

    /// Says what kind of loudspeaker is in use, which switches the echo canceller; see ``RouteProfile``. From the next
    /// block on and without a gap. It holds until the engine stops; ``EngineConfiguration/routeProfile`` is what it
    /// starts with.
    ///
    /// - Throws: ``EngineError/notStarted``, ``EngineError/overloaded``.
    public func setRouteProfile(_ profile: RouteProfile) throws(EngineError) {
        guard let core = running?.core else { throw .notStarted }
        try core.setProfile(profile)
    }

    /// Goes over to other sound cards, by the names that ``AudioRoute/End/name`` and `duplex devices` show; what is not
    /// named stays. The call goes on: the loudspeaker is silent while it is opened, some 50 ms as a rule, and the
    /// canceller learns the new echo. ``EngineEvent/routeChanged(_:_:)`` follows.
    ///
    /// What has a name of its own is waited for when it is lost, and `default` is followed, unless
    /// ``EngineConfiguration/routePolicy`` says otherwise. An engine whose device is custom goes over to cards where both
    /// are named, and no longer takes sound from that device.
    ///
    /// - Throws: ``EngineError/device(_:)`` where a card cannot be opened, and then the old ones run again, or where one
    ///   is named that the engine was started without; ``EngineError/notStarted``.
    @discardableResult
    public func selectDevices(capture: String? = nil, playback: String? = nil) throws(EngineError) -> AudioRoute {
        guard let core = running?.core else { throw .notStarted }
        return try core.selectDevices(DeviceSelection(capture: capture, playback: playback))
    }

    /// Which devices the sound goes through now; nil while the engine does not run.
    public var route: AudioRoute? { running?.core.route }

    /// What has been counted and measured; up to 50 ms old while sound runs.
    ///
    /// - Throws: ``EngineError/notStarted``.
    public func statistics() throws(EngineError) -> EngineStatistics {
        guard let core = running?.core else { throw .notStarted }
        let statistics = room?.statistics
        let talkers = room?.talkers ?? [:]
        return EngineStatistics(
            core.statistics(), device: core.counters.counts, roundTrip: statistics?.session.usualRoundTripTime,
            room: statistics, talkers: talkers)
    }
}
