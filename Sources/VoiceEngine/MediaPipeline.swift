internal import VoiceProcessing
internal import VoiceRealtime

/// Everything between the rings: the media thread's work without its thread.
///
/// Time comes in as `now`, so that the same code runs on the media thread and, bit for bit repeatable, in simulated time.
struct MediaPipeline: ~Copyable {
    /// Runs before allocations count: what is lazily set up in libraries and the first talkers' packets lie before.
    static let warmUpTicks = 200
    /// Runs between two publications of the statistics.
    static let ticksPerPublication = 10

    private var uplink: Uplink
    private var downlink: Downlink
    private var commands: ValueConsumer<MediaCommand>
    private var events: MediaEventOutlet
    private var publisher: TripleBufferWriter<MediaStatistics>
    private var statistics = MediaStatistics()

    init(
        uplink: consuming Uplink, downlink: consuming Downlink, commands: consuming ValueConsumer<MediaCommand>,
        events: consuming MediaEventOutlet, publisher: consuming TripleBufferWriter<MediaStatistics>
    ) {
        self.uplink = uplink
        self.downlink = downlink
        self.commands = commands
        self.events = events
        self.publisher = publisher
    }

    /// Does all that is due: commands, then the uplink, whose reference tells the downlink where playback stands, then the downlink.
    mutating func run(now: MonotonicTime) {
        let cpuBefore = RealtimeWatch.cpuNanoseconds()
        let allocationsBefore = RealtimeWatch.allocations
        while let command = commands.pop() { obey(command) }
        uplink.run(now: now, events: &events)
        downlink.run(now: now, referenceEnd: uplink.statistics.referenceEnd)
        note(cpuBefore: cpuBefore, allocationsBefore: allocationsBefore)
    }

    private mutating func obey(_ command: MediaCommand) {
        switch command {
        case .publish(let start): uplink.publish(start)
        case .stopPublishing: uplink.stopPublishing()
        case .setMuted(let muted): uplink.setMuted(muted)
        case .setProcessing(let settings):
            do { try uplink.processor.apply(settings) } catch { events.tell(.processingRefused) }
        case .changeCapture: uplink.captureChanged()
        case .changePlayback(let period):
            uplink.playbackChanged()
            downlink.setDevicePeriod(period)
        case .addStream(let source):
            if !downlink.addStream(source) { events.tell(.tooManyStreams(synchronizationSource: source)) }
        case .removeStream(let source): downlink.removeStream(source)
        case .setVolume(let gain, let source): downlink.setVolume(gain, of: source)
        }
    }

    private mutating func note(cpuBefore: Int64, allocationsBefore: Int64?) {
        statistics.ticks += 1
        let cpu = RealtimeWatch.cpuNanoseconds() - cpuBefore
        statistics.cpuNanoseconds += cpu
        if statistics.ticks > Self.warmUpTicks {
            statistics.worstTickNanoseconds = max(statistics.worstTickNanoseconds, cpu)
            if let allocationsBefore, let after = RealtimeWatch.allocations {
                statistics.allocations = (statistics.allocations ?? 0) + after - allocationsBefore
            }
        }
        guard statistics.ticks % Self.ticksPerPublication == 0 else { return }
        statistics.uplink = uplink.statistics
        statistics.downlink = downlink.statistics
        statistics.streams = downlink.streamStatistics()
        statistics.settings = uplink.processor.activeSettings
        publisher.publish(statistics)
    }
}
