public import VoiceDevices
public import VoiceProcessing
internal import VoiceRealtime
public import VoiceRooms
internal import VoiceText
public import VoiceTransport
public import VoiceTurns

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
    private(set) var room: RoomMembership?
    /// What was asked of streams, which outlives the room.
    var requests = StreamRequests()
    /// Carries the room's events here.
    private var follower: Task<Void, Never>?
    /// Waits until more of the texts may be sent.
    private var textTimer: Task<Void, Never>?
    /// The volume that was asked for, and what follows the noise below it.
    var outputVolume: Float = 1
    var noiseFollower: NoiseFollower?
    var noiseTimer: Task<Void, Never>?
    /// How talkers are brought to like loudness.
    var talkerLevelling: TalkerLevelling?
    private var isMuted = false
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
    /// - Throws: ``EngineError/calledFromEngineThread`` on a thread of an engine's, as callbacks are, and
    /// ``EngineError/resourcesExhausted(_:)`` where no
    ///   descriptor is left to wait with; with nothing done.
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
    /// ``EngineError/resourcesExhausted(_:)``,
    ///   ``EngineError/alreadyStarted``.
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
        if case .ordinaryAfterRefusal(let errno) = media.scheduling {
            broadcast.post(.degraded(.noRealtimePriority(errno: errno)))
        }
        // In order, which tasks would not keep.
        try forwarder.start(core, broadcast) { [weak self, control] event in
            control.perform { [weak self] in self?.assumeIsolated { $0.tellRoom(event) } }
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
        requests.outgoing = [:]
        (noiseTimer, noiseFollower, outputVolume) = (nil, nil, 1)
        running.halt()
        lastRecording = running.core.recorder?.status
        broadcast.forgetConditions()
    }

    // MARK: The room

    /// Joins a room: publishes the microphone there and plays everybody else.
    ///
    /// Devices and processing run since `start()`, and what is said from this call on is kept, the last second of it,
    /// and sent once the room is there: the first word is whole. It is heard that much later, until the first pauses
    /// have made up for it; whoever says nothing while joining is not delayed. Muting forgets what was kept.
    ///
    /// - Returns: the participants who are there already.
    /// - Throws: ``EngineError/room(_:)`` with the refusal or failure, ``EngineError/notStarted``,
    /// ``EngineError/alreadyJoined``.
    @discardableResult
    public func join(
        _ endpoint: RoomEndpoint, configuration: RoomClientConfiguration = RoomClientConfiguration()
    ) async throws(EngineError) -> [Participant] {
        // A room that has put the engine out is as good as none.
        if let room, room.isOver { await leave() }
        guard let core = running?.core else { throw .notStarted }
        guard room == nil else { throw .alreadyJoined }
        var configuration = configuration
        if configuration.threadPriority == 0 { configuration.threadPriority = self.configuration.networkPriority }
        let membership = try RoomMembership(
            core: core, broadcast: broadcast, isMuted: isMuted, requests: requests, endpoint, configuration)
        room = membership
        follower = Task { [weak self, events = membership.events] in
            for await event in events { await self?.handle(event) }
        }
        guard let failure = await membership.decision() else { return membership.others }
        membership.close()
        if room === membership { room = nil }
        throw .room(failure)
    }

    /// Leaves the room; the sound runs on. Does nothing outside a room.
    public func leave() async {
        guard let leaving = room else { return }
        leaving.askToLeave()
        await follower?.value
        // The network thread must have let go of the rings before the next room's takes them.
        leaving.close()
        if room === leaving { room = nil }
    }

    /// Of the room that the engine is in, or has just left.
    private func handle(_ event: RoomClientEvent) {
        room?.handle(event)
        carryTexts()
    }

    /// Sends what is due of texts, and sees to it that it is called when more is.
    private func carryTexts() {
        textTimer?.cancel()
        textTimer = nil
        guard let pause = room?.carryTexts() else { return }
        textTimer = Task { [weak self] in
            do { try await Task.sleep(for: pause) } catch { return }
            await self?.carryTexts()
        }
    }

    private func tellRoom(_ event: MediaEvent) { room?.take(event) }

    /// Sends up to 1,024 bytes to one participant, or to all others in the room; delivered in order, and again after a
    /// break.
    public func send(_ bytes: [UInt8], to participant: ParticipantID? = nil) throws(EngineError) {
        guard let room else { throw .notJoined }
        try room.send(bytes, to: participant)
    }

    /// Has the text of a stream of this engine's be `text` from now on, for everybody in the room: what a recogniser
    /// has heard so far, say.
    ///
    /// A stream has a name and one text at a time; the first change after a final one begins the next, a round. Others
    /// are told by ``EngineEvent/text(from:_:)``, whoever comes later too. Only what differs is sent, and of states
    /// that follow each other faster than 40 a second, or than the room takes them, only the last; the last text is the
    /// same for all, whatever was lost or sent again. Ends with the stay in the room.
    ///
    /// - Parameters:
    ///   - stream: up to 32 bytes of UTF-8; eight streams at most.
    ///   - text: up to 64 KiB of UTF-8.
    ///   - isFinal: whether it stays as it is.
    ///   - extras: up to 512 bytes that come with it, JSON by custom.
    /// - Throws: ``EngineError/notJoined``, ``EngineError/text(_:)``.
    public func setText(
        _ stream: String, to text: String, isFinal: Bool = false, extras: String = ""
    ) throws(EngineError) {
        try changeText(stream, .replace(text), isFinal: isFinal, extras: extras)
    }

    /// Puts `text` behind the text of a stream, as a model's tokens come; see ``setText(_:to:isFinal:extras:)``.
    public func appendText(
        _ stream: String, _ text: String, isFinal: Bool = false, extras: String = ""
    ) throws(EngineError) {
        try changeText(stream, .append(text), isFinal: isFinal, extras: extras)
    }

    /// Gives up the text of a stream where it is, as that of an answer that was interrupted: the next change begins the
    /// next round.
    public func abandonText(_ stream: String) { room?.abandonText(stream) }

    private func changeText(
        _ stream: String, _ change: TextChange, isFinal: Bool, extras: String
    ) throws(EngineError) {
        guard let room else { throw .notJoined }
        try room.changeText(stream, change, isFinal: isFinal, extras: extras)
        carryTexts()
    }

    /// Interrupts a participant, or where none is given this engine's own speech.
    ///
    /// Of what was said before nothing more is heard: here it fades out within 5 ms of the media thread's next block,
    /// at every other listener when the room's message comes; what is still under way is dropped by its generation,
    /// which every packet says. The talker, and everybody else, is told by
    /// ``EngineEvent/interrupted(_:by:generation:)``; when the talker speaks again, by
    /// ``EngineEvent/generationStarted(_:generation:)``. How far a named utterance was heard is told when the last of
    /// it has left the DAC, here by ``EngineEvent/utteranceHeard(_:_:at:)``, and to its talker, by each of its
    /// listeners, by ``EngineEvent/heard(_:by:)``.
    ///
    /// Another may be interrupted only who joined with ``RoomClientConfiguration/interruptibleBy`` `.anyone`, as an
    /// agent does; else, and beyond twice a second, the room refuses, and what is said is heard again from then on.
    ///
    /// - Throws: ``EngineError/notJoined``, ``EngineError/unknownParticipant(_:)``, ``EngineError/overloaded``,
    /// ``EngineError/requestRefused(_:)``.
    public func interrupt(_ participant: ParticipantID? = nil) throws(EngineError) {
        guard let room else { throw .notJoined }
        try room.interrupt(participant)
    }

    /// Interrupts, as ``interrupt(_:)`` does, and waits until it is known how far what was said was heard.
    ///
    /// Of a participant there is one receipt, for the utterance that it was saying, from this engine's loudspeaker; of
    /// this engine's own speech one for each participant that had begun to hear the utterance, as its engine tells.
    /// Without a named utterance (``beginUtterance(_:)``) there is none. Does not block; a receipt comes when the last
    /// of the old sound has left the DAC, a fade and the device's buffer after the interruption, and from others a way
    /// through the room later.
    ///
    /// - Parameter timeout: how long to wait for receipts; then what was told last comes instead, which
    ///   ``HeardUtterance/isFinal`` says. The cancellation of the task ends the wait the same way.
    /// - Throws: as ``interrupt(_:)``.
    public func interrupt(
        _ participant: ParticipantID? = nil, awaitingReceiptsFor timeout: Duration
    ) async throws(EngineError) -> [InterruptionReceipt] {
        guard let room else { throw .notJoined }
        let number = room.openReceipts(of: participant)
        do throws(EngineError) {
            try room.interrupt(participant)
        } catch {
            room.giveUp(number)
            throw error
        }
        let timer = Task {
            // Cancelled where the receipts have come, which then finds nobody.
            try? await Task.sleep(for: timeout)
            self.giveUpReceipts(number, of: room)
        }
        let receipts = await withTaskCancellationHandler {
            await room.receipts(number)
        } onCancel: {
            timer.cancel()
        }
        timer.cancel()
        return receipts
    }

    private func giveUpReceipts(_ number: UInt64, of room: RoomMembership) { room.giveUp(number) }

    /// Has what a participant says give way to whoever speaks at the microphone, as an agent's answer does in a
    /// ``Conversation``: it is made quieter at once, silenced and kept while the near talker goes on, and interrupted
    /// when they mean it (``interrupt(_:)``). After a cough or an "mm-hm" it goes on where it was; it is late then by
    /// as much as was kept, and catches up in its pauses. ``EngineEvent/bargeIn(_:_:)`` tells of each stage.
    ///
    /// One participant at a time: of the one before what was kept is heard first. Of a participant with several streams
    /// one is kept, and the others are silent meanwhile. 5 s are kept; of what is held longer
    /// the talker goes on, quieter. Ends with ``BargeInPolicy/off``, and when the participant leaves. Needs the speech
    /// detection and the echo readiness of ``ProcessingSettings/voiceAgent`` or the like.
    ///
    /// - Throws: ``EngineError/notJoined``, ``EngineError/unknownParticipant(_:)``, ``EngineError/overloaded``,
    ///   ``EngineError/turn(_:)``.
    public func setBargeIn(_ policy: BargeInPolicy, for participant: ParticipantID) throws(EngineError) {
        if let fault = TalkMode.duplex(Duplex(bargeIn: policy)).fault { throw .turn(.invalidMode(fault)) }
        guard let room else { throw .notJoined }
        try room.setBargeIn(policy, for: participant)
    }

    /// A recogniser has heard words: what is suspected or held is an interruption. Does nothing where nothing is.
    ///
    /// - Throws: ``EngineError/notStarted``, ``EngineError/overloaded``.
    public func confirmBargeIn() throws(EngineError) {
        guard let core = running?.core else { throw .notStarted }
        try core.send(.confirmBargeIn)
    }

    /// Says that what is captured from now on is this utterance, as an agent does whose device is its synthesiser; nil:
    /// none.
    ///
    /// Each packet then tells the utterance and its place in it. Where it is interrupted
    /// (``EngineEvent/interrupted(_:by:generation:)``) the rest of it is not sent, until the next utterance is named or
    /// this is called with nil: what the synthesiser still delivers is heard by nobody. It counts by the ADC's time,
    /// also where what is said waits before it is sent.
    ///
    /// - Throws: ``EngineError/notStarted``, ``EngineError/overloaded``.
    public func beginUtterance(_ utterance: UtteranceID?) throws(EngineError) {
        guard let core = running?.core else { throw .notStarted }
        try core.send(.beginUtterance(utterance?.rawValue))
    }

    // MARK: While it runs

    /// Mutes or unmutes the microphone, with a 5 ms fade; the room is told. What is sent while muted is the kind's,
    /// nothing unless given otherwise, and the canceller goes on learning. May be called before `start()`.
    ///
    /// - Throws: ``EngineError/overloaded``, and nothing has changed; ``EngineError/requestRefused(_:)`` where only the
    ///   room could not be told.
    public func setMuted(_ muted: Bool, as kind: MuteKind = .stop) throws(EngineError) {
        if muted, let core = running?.core { try core.send(.setMuteKind(kind)) }
        try running?.core.send(.setMuted(muted))
        isMuted = muted
        if muted { muteKind = kind }
        try room?.setMuted(muted)
    }

    /// Scales what is heard of a participant, as long as it stays: 0 silences, 1 leaves it, up to 4 (+12 dB).
    ///
    /// - Throws: ``EngineError/invalidConfiguration(_:)``, ``EngineError/notJoined``,
    ///   ``EngineError/unknownParticipant(_:)``, ``EngineError/overloaded``.
    public func setVolume(_ volume: Float, for participant: ParticipantID) throws(EngineError) {
        guard (0...4).contains(volume) else { throw .invalidConfiguration("the volume is \(volume); use 0...4") }
        guard let room else { throw .notJoined }
        try room.setVolume(volume, for: participant)
    }

    /// Scales everything that is played, 0 to 1, the echo reference included.
    ///
    /// - Throws: ``EngineError/invalidConfiguration(_:)``, ``EngineError/notStarted``.
    public func setOutputVolume(_ volume: Float) throws(EngineError) {
        guard (0...1).contains(volume) else { throw .invalidConfiguration("the volume is \(volume); use 0...1") }
        guard let core = running?.core else { throw .notStarted }
        outputVolume = volume
        applyVolume(core)
    }

    /// Changes what is done to the microphone, from the next block on and without a gap.
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
    public func setRouteProfile(_ profile: RouteProfile) throws(EngineError) {
        guard let core = running?.core else { throw .notStarted }
        try core.setProfile(profile)
    }

    /// Goes over to other sound cards, by the names that ``AudioRoute/End/name`` and `duplex devices` show; what is not
    /// named stays. The call goes on: the loudspeaker is silent while it is opened, some 50 ms as a rule, and the
    /// canceller learns the new echo. ``EngineEvent/routeChanged(_:_:)`` follows.
    ///
    /// What has a name of its own is waited for when it is lost, and `default` is followed, unless
    /// ``EngineConfiguration/routePolicy`` says otherwise.
    ///
    /// - Throws: ``EngineError/device(_:)`` where a card cannot be opened, and then the old ones run again;
    /// ``EngineError/notStarted``.
    @discardableResult
    public func selectDevices(capture: String? = nil, playback: String? = nil) throws(EngineError) -> AudioRoute {
        guard let core = running?.core else { throw .notStarted }
        return try core.selectDevices(DeviceSelection(capture: capture, playback: playback))
    }

    /// Which devices the sound goes through now; nil while the engine does not run.
    public var route: AudioRoute? { running?.core.route }

    /// What has been counted and measured, at most 100 ms old.
    public func statistics() throws(EngineError) -> EngineStatistics {
        guard let core = running?.core else { throw .notStarted }
        let statistics = room?.statistics
        let talkers = room?.talkers ?? [:]
        return EngineStatistics(
            core.statistics(), device: core.counters.counts, roundTrip: statistics?.session.usualRoundTripTime,
            room: statistics, talkers: talkers)
    }
}
