internal import VoiceDevices
internal import VoiceProcessing
internal import VoiceRealtime
internal import VoiceWire

/// Everything between the rings: the media thread's work without its thread.
///
/// Time comes in as `now`, so that the same code runs on the media thread and, bit for bit repeatable, in simulated
/// time.
struct MediaPipeline: ~Copyable {
    /// Between two publications of the statistics.
    static let publicationNanoseconds: Int64 = 50_000_000

    private var uplink: Uplink
    private var downlink: Downlink
    private var farEnds: FarEndTable
    private var watch = NearEndWatch()
    private var reports: ReportExchange
    private var commands: ValueConsumer<MediaCommand>
    private var events: MediaEventOutlet
    private let counters: DeviceCounters
    private var publisher: TripleBufferWriter<MediaStatistics>
    private var statistics = MediaStatistics()
    private var cost = RunCost()
    private var lastPublication: MonotonicTime?
    private var recorder: RunRecorder?
    /// What the device has counted, in a replay.
    var replayedPlayback: DirectionCounts?

    /// A pipeline at its ends of the rings. Not real-time safe.
    ///
    /// - Parameters:
    ///   - devicePeriod: frames of 48 kHz that the loudspeaker takes at a time.
    ///   - keepsDeadlines: whether it is run when it says.
    ///   - networkWake: signalled for each packet to send.
    ///   - eventWake: signalled for each event, and for news of far ends.
    ///   - watch: where what passes each stage is digested.
    init(
        _ ends: consuming MediaRings.PipelineEnds, _ configuration: EngineConfiguration, devicePeriod: Int,
        keepsDeadlines: Bool, networkWake: WakeHandle, eventWake: WakeHandle?, counters: DeviceCounters,
        watch: StageWatch?, recorder: consuming RunRecorder? = nil
    ) throws(EngineError) {
        let uplink = try Uplink(
            capture: ends.capture, reference: ends.reference, configuration: configuration, sending: ends.sending,
            networkWake: networkWake, watch: watch)
        let downlink = try Downlink(
            received: ends.received, playout: ends.playout, configuration: configuration, devicePeriod: devicePeriod,
            keepsDeadlines: keepsDeadlines, watch: watch)
        self.uplink = uplink
        self.downlink = downlink
        farEnds = FarEndTable(rendered: ends.rendered, news: ends.farEndNews, wake: eventWake, watch: watch)
        reports = ReportExchange(configuration.sending)
        commands = ends.commands
        events = MediaEventOutlet(ends.events, wake: eventWake)
        self.counters = counters
        publisher = ends.statistics
        self.recorder = recorder
    }

    /// Does all that is due: commands, then the downlink, for which the playback thread waits, then the uplink. Returns
    /// when it must run next if nothing wakes it before; nil where only something that wakes it can make anything due.
    mutating func run(_ clock: RunClock) -> MonotonicTime? {
        cost.runBegins(ownsThread: clock.ownsThread)
        let next = run(recording: clock)
        cost.runEnds()
        publish(clock)
        return next
    }

    private mutating func run(recording clock: RunClock) -> MonotonicTime? {
        guard let tape = recorder?.tape else { return work(clock) }
        recorder?.begin(clock.start)
        let next = work(clock.keeping(readingsOn: tape))
        recorder?.finish()
        return next
    }

    /// Fixes what this run sees of the world: what the other threads do meanwhile is for the next one. So a run depends
    /// on its start, its commands, its readings of the clock and on this, and on nothing else.
    private mutating func look() -> DirectionCounts {
        var playback = replayedPlayback ?? counters.counts.playback
        if let uncertainty = playback.driftUncertaintyPPM, uncertainty > PlaybackDrift.largestUncertaintyPPM {
            playback.driftPPM = nil
        }
        let (playoutTaken, packetsTaken) = (downlink.look(&recorder), uplink.look(&recorder))
        farEnds.look(&recorder)
        recorder?.append(playback, playoutTaken: playoutTaken, packetsTaken: packetsTaken)
        return playback
    }

    private mutating func work(_ clock: RunClock) -> MonotonicTime? {
        // However fast more are sent: what comes meanwhile is for the next run.
        commands.look()
        while let command = commands.pop() {
            recorder?.append(command)
            obey(command, now: clock.start)
        }
        let playback = look()
        let take = uplink.takeReference()
        farEnds.takeRendered(now: clock.start, downlink: &downlink)
        downlink.run(
            clock, take: take, playback: playback, farEnds: &farEnds, reports: &reports,
            events: &events)
        examineStreams(clock)
        uplink.follow(reports.microphone.plan)
        watch.talker.take(downlink.watchedTalker)
        uplink.run(clock, farEnds: &farEnds, watch: &watch, events: &events)
        if let delivery = watch.talker.takeDelivery() { downlink.change(delivery) }
        farEnds.tell(now: clock.start)
        report(clock)
        return downlink.nextRun
    }

    /// Tells what is news of the streams.
    private mutating func examineStreams(_ clock: RunClock) {
        // As those report who send nothing: in a room of many less often than this engine, where it sends.
        var quiet = session
        quiet.isSender = false
        let interval = reports.meanInterval(of: quiet)
        let news = downlink.examineStreams(now: clock.start.sinceEpoch, reportInterval: interval)
        if let news { events.tell(news) }
        downlink.tellHeard(now: clock.start, &events)
    }

    /// Mutating, like all that runs in each block and belongs to a large value: called from a mutating one, anything
    /// else is given a copy of the whole value, here 40 KB (`tools/large-copies`).
    private var session: ReportSchedule.Session {
        mutating get {
            let (heard, talking) = downlink.population
            let isSender = uplink.hasSentOfLate
            // Listeners without a stream of their own are known by their reports alone.
            return ReportSchedule.Session(
                members: max(heard, reports.microphone.listeners.count, farEnds.mostReporters) + 1,
                senders: talking + (isSender ? 1 : 0),
                isSender: isSender)
        }
    }

    /// Sends a report where one is due.
    private mutating func report(_ clock: RunClock) {
        guard reports.isDue(session, now: clock.start.sinceEpoch) else { return }
        let now = clock.now
        let reception = downlink.receptionReports(now: now.sinceEpoch)
        uplink.sendReports(reception, farEnds: &farEnds, through: &reports, now: now)
    }

    private mutating func obey(_ command: MediaCommand, now: MonotonicTime) {
        switch command {
        case .keepForRoom: uplink.keepForRoom()
        case .publish(let start) where start.line != 0: farEnds.publish(start)
        case .stopStream(let line): farEnds.stopStream(line)
        case .beginStreamGeneration(let generation, let line):
            farEnds.beginStream(generation: generation, of: line)
        case .publish(let start):
            uplink.publish(start)
            reports.begin(as: start)
        case .report(let start):
            uplink.stopPublishing()
            reports.begin(as: start)
        case .stopPublishing:
            uplink.stopPublishing()
            reports.end()
            downlink.leaveRoom()
        case .setMuted(let muted): uplink.setMuted(muted)
        case .setMuteKind(let kind): uplink.setMuteKind(kind)
        case .setProcessing(let settings):
            do { try uplink.processor.apply(settings) } catch { events.tell(.processingRefused) }
        case .setSending(let sending): reports.change(sending)
        case .changeCapture: uplink.captureChanged(events: &events)
        case .changePlayback(let period):
            uplink.playbackChanged(events: &events)
            downlink.deviceChanged(period: period)
        case .addStream(let source, let participant, let isMuted, let generation):
            if !downlink.addStream(source, of: participant, isMuted: isMuted, generation: generation) {
                events.tell(.tooManyStreams(synchronizationSource: source))
            }
        case .setStreamMuted(let isMuted, let source): downlink.setMuted(isMuted, of: source)
        case .removeStream(let source): downlink.removeStream(source)
        case .setVolume(let gain, let source): downlink.setVolume(gain, of: source)
        case .levelTalkers(let levelling): downlink.level(levelling)
        case .flush(let generation, let source): downlink.flush(generation: generation, of: source)
        case .beginGeneration(let generation): uplink.begin(generation: generation, now: now)
        case .beginUtterance(let utterance): uplink.begin(utterance: utterance, now: now)
        case .openFarEnd(let handle): farEnds.open(handle)
        case .openSink(let handle): farEnds.open(handle)
        case .openMeter(let handle): farEnds.open(handle)
        case .openListener(let handle): farEnds.open(handle)
        case .watchAnswers(let order): watch.answers.follow(order, farEnds: &farEnds)
        case .watchTalker(let order):
            watch.talker.follow(order)
            if let undoing = watch.talker.takeDelivery() { downlink.change(undoing) }
            downlink.watch(order.participant)
        case .confirmBargeIn:
            watch.answers.confirm(now: now, farEnds: &farEnds)
            watch.talker.confirm(now: now, events: &events)
        case .openGate: uplink.openGate()
        case .closeGate(let frames): uplink.closeGate(keeping: frames)
        }
    }

    private mutating func publish(_ clock: RunClock) {
        if let lastPublication, clock.start.nanoseconds - lastPublication.nanoseconds < Self.publicationNanoseconds {
            return
        }
        lastPublication = clock.start
        cost.readThreadTime()
        statistics.cost = cost
        statistics.uplink = uplink.statistics
        statistics.downlink = downlink.statistics
        statistics.streams = downlink.streamStatistics()
        statistics.farEnds = farEnds.counts
        statistics.outgoing = farEnds.outgoingCounts
        statistics.listeners = reports.microphone.listeners
        statistics.reports = reports.statistics
        statistics.settings = uplink.processor.activeSettings
        publisher.publish(statistics)
    }
}
