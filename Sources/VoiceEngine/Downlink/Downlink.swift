internal import VoiceCoding
internal import VoiceDevices
internal import VoicePlayout
internal import VoiceRealtime
internal import VoiceWire

/// The network's way to the loudspeaker, run by the media thread.
///
///     receive ring ─► jitter buffer ─► Opus decode, FEC, conceal ─► level ─► volume ─┐
///                     (one for each talker)                                          ├─► mix ─► limiter ─► playout ring
///     ...                                                           level ─► volume ─┤       (at the device's own pace,
///     far ends in this process: queue ─► fade where it runs dry ───────────► volume ─┘   where that is not the true one)
///
/// The playback clock drives it: a block is pulled shortly before the playback thread comes for it. Nothing is
/// allocated after `init`.
struct Downlink: ~Copyable {
    private var received: PacketConsumer
    private var playout: FrameProducer
    private var streams: StreamTable
    private var schedule: PlayoutSchedule
    /// Frames that the playback thread has taken, as of the last ``look(_:)``.
    private var takenFrames = 0
    private let watch: StageWatch?
    /// When something must next be pulled; nil while nothing has to.
    private(set) var nextRun: MonotonicTime?
    /// When the last frame so far given to the loudspeaker leaves the DAC.
    private var referenceEnd: MonotonicTime?
    /// Frames so far for which the loudspeaker got nothing, as the device counts them.
    private var silentFrames = 0
    private var limiter = MixLimiter()
    private var drift = PlaybackDrift()
    private var follower = ClockFollower()
    private var isSecondPart = true
    private var mix = InlineArray<480, Float>(repeating: 0)
    private var scratch = InlineArray<480, Float>(repeating: 0)
    private(set) var statistics = DownlinkStatistics()

    init(
        received: consuming PacketConsumer, playout: consuming FrameProducer, configuration: EngineConfiguration,
        devicePeriod: Int, keepsDeadlines: Bool, watch: StageWatch? = nil
    ) throws(EngineError) {
        do throws(OpusError) {
            streams = try StreamTable(count: configuration.maximumStreams, configuration: configuration.playout)
        } catch {
            throw EngineError(error)
        }
        self.received = received
        self.playout = playout
        self.watch = watch
        schedule = PlayoutSchedule(
            period: devicePeriod, margin: configuration.playoutMargin, keepsDeadlines: keepsDeadlines)
        statistics.margin = schedule.margin
    }

    /// Fixes what the next run sees of the network and of the playback thread, and has it recorded. Returns how many
    /// frames that one has taken.
    mutating func look(_ recorder: inout RunRecorder?) -> Int {
        received.look()
        takenFrames = playout.takenFrames
        recorder?.append(packets: received)
        return takenFrames
    }

    /// How many frames wait for the playback thread.
    private var fill: Int { playout.writtenFrames - takenFrames }

    /// Another device plays from now on, this many frames of 48 kHz at a time; 0 where that is not known.
    mutating func deviceChanged(period: Int) {
        schedule.restart(period: period)
        referenceEnd = nil
    }

    /// False when there are too many.
    mutating func addStream(_ source: UInt32, of participant: UInt32, isMuted: Bool, generation: UInt32) -> Bool {
        streams.add(source, of: participant, isMuted: isMuted, generation: generation)
    }

    mutating func setMuted(_ isMuted: Bool, of source: UInt32) { streams.setMuted(isMuted, of: source) }

    /// Looks at one stream; see ``StreamTable/examine(now:reportInterval:)``.
    mutating func examineStreams(now: Duration, reportInterval: Duration) -> MediaEvent? {
        streams.examine(now: now, reportInterval: reportInterval)
    }

    mutating func removeStream(_ source: UInt32) { streams.remove(source) }

    /// The room is left: its numbers are others' in the next one.
    mutating func leaveRoom() { streams.departed.forget() }

    /// Puts a generation of a stream in force, and drops what waits of older ones.
    mutating func flush(generation: UInt32, of source: UInt32) { streams.flush(generation: generation, of: source) }

    /// Has a participant be one that can be spoken into; 0: nobody.
    mutating func watch(_ participant: UInt32) { streams.watch(participant) }

    /// What is known of the talker who is watched.
    var watchedTalker: WatchedTalker { mutating get { streams.watchedTalker } }

    /// Does what somebody who speaks into it brings about.
    mutating func change(_ delivery: SpeechDelivery) { streams.change(delivery) }

    /// How many talkers are played, and how many of them have sent since the last report.
    var population: (members: Int, senders: Int) { streams.population }

    /// What is to be reported of those that sent since the last report.
    mutating func receptionReports(now: Duration) -> ReceptionReports { streams.receptionReports(now: now) }

    /// Takes what the playback thread has handed to the device, for the utterances that were in it.
    mutating func rendered(_ span: RenderedSpan) { streams.rendered(span) }

    /// Tells what is news of the talkers' utterances.
    mutating func tellHeard(now: MonotonicTime, _ events: inout MediaEventOutlet) {
        streams.tellHeard(now: now, &events)
    }

    /// Brings talkers to like loudness from now on, or no more.
    mutating func level(_ levelling: TalkerLevelling?) { streams.levelling = levelling }

    mutating func setVolume(_ gain: Float, of source: UInt32) {
        streams.setVolume(gain, of: source)
    }

    /// Takes in the packets that have arrived, ``mostPackets`` at most, and pulls what is due into the playout ring.
    ///
    /// - Parameters:
    ///   - take: what the playback thread has taken since the last run.
    ///   - playback: what the device has counted so far.
    ///   - reports: takes what comes of RTCP.
    mutating func run(
        _ clock: RunClock, take: PlaybackTake?, playback: DirectionCounts, farEnds: inout FarEndTable,
        reports: inout ReportExchange,
        events: inout MediaEventOutlet
    ) {
        let counted = playback.underrunFrames + playback.filledGapFrames
        let silence = counted - silentFrames + (take?.gapFrames ?? 0)
        if silence > 0 { streams.playbackStoodStill(silence) }
        silentFrames = counted
        if let take { note(take, seen: clock.start) }
        drift.update(measuredPPM: playback.driftPPM, now: clock.start)
        receive(&reports, &farEnds)
        while let due = schedule.due(fill: fill), due <= clock.start {
            produce(now: clock.start, farEnds: &farEnds)
            let isChanged = schedule.filled(due: due, at: clock.now, underruns: playback.underrunFrames)
            if isChanged { noteMargin(&events) }
        }
        nextRun = schedule.plan(fill: fill)
        statistics.followedDriftPPM = drift.followedPPM
        statistics.resamplingFrames = follower.pendingFrames
        statistics.holdOverflows = streams.holdOverflows
    }

    private mutating func note(_ take: PlaybackTake, seen now: MonotonicTime) {
        referenceEnd = take.end
        statistics.playbackDevice.note(schedule.note(take, seen: now), frames: take.frames)
    }

    private mutating func noteMargin(_ events: inout MediaEventOutlet) {
        statistics.marginChanges += 1
        statistics.margin = schedule.margin
        events.tell(.playoutMarginChanged(nanoseconds: schedule.margin))
    }

    /// The packets taken in by one run at most, the oldest first: 160 ms of 20 ms packets from each of the most
    /// talkers, which is what a stall of the network lets loose. What sound is due does not wait for more; a flood
    /// stays in the receive ring, which drops the newest when full.
    static let mostPackets = 128

    private mutating func receive(_ reports: inout ReportExchange, _ farEnds: inout FarEndTable) {
        for _ in 0..<min(received.available, Self.mostPackets) {
            switch Self.hand(received, to: &streams, &reports, &farEnds) {
            case .taken: break
            case .withoutSlot: statistics.packetsWithoutSlot += 1
            case .unknownStream: statistics.packetsOfUnknownStreams += 1
            case .unknownPayload: statistics.packetsOfUnknownPayload += 1
            case .malformed: statistics.packetsMalformed += 1
            }
            received.release()
        }
        statistics.packetsDropped = received.droppedPackets
    }

    private enum Reception {
        case taken, withoutSlot, unknownStream, unknownPayload, malformed

        init(_ reception: StreamTable.Reception) {
            switch reception {
            case .taken: self = .taken
            case .withoutSlot: self = .withoutSlot
            case .unknownStream: self = .unknownStream
            }
        }
    }

    private static func hand(
        _ received: borrowing PacketConsumer, to streams: inout StreamTable, _ reports: inout ReportExchange,
        _ farEnds: inout FarEndTable
    ) -> Reception {
        let arrival = received.tag().time.sinceEpoch
        if DatagramKind(of: received.peek()) == .rtcp {
            let words = reports.receive(
                received.peek(), arrival: arrival, streams: &streams, fed: farEnds.fedSources)
            farEnds.take(words, arrival: arrival)
            return .taken
        }
        do {
            let packet = try RTPPacket(parsing: received.peek())
            switch packet.header.payloadType {
            case Uplink.payloadType: return Reception(streams.insert(packet, arrival: arrival))
            case Uplink.redundantPayloadType:
                let audio = try RedundantAudio(parsing: packet.payload)
                guard audio.primaryPayloadType == Uplink.payloadType else { return .unknownPayload }
                return Reception(streams.insert(packet, repeating: audio, arrival: arrival))
            default: return .unknownPayload
            }
        } catch {
            return .malformed
        }
    }

    /// Pulls a block, mixes it and puts it into the ring.
    private mutating func produce(now: MonotonicTime, farEnds: inout FarEndTable) {
        let blockFrames = nextBlockFrames()
        let moment = mixMoment(now: now)
        var mixSpan = mix.mutableSpan
        var block = mixSpan._mutatingExtracting(0..<blockFrames)
        for index in 0..<blockFrames { block[index] = 0 }
        var scratchSpan = scratch.mutableSpan
        var scratchBlock = scratchSpan._mutatingExtracting(0..<blockFrames)
        streams.mix(into: &block, scratch: &scratchBlock, now: now.sinceEpoch, sinks: &farEnds, at: moment)
        farEnds.mix(into: &block, scratch: &scratchBlock, at: moment)
        limiter.apply(to: &block)
        farEnds.hear(.point(.mix), block.span, time: moment.dacTime)
        farEnds.measure(.far, block.span)
        if let dacTime = moment.dacTime {
            statistics.pullToSpeaker.note(dacTime.nanoseconds - now.nanoseconds, frames: blockFrames)
        }
        let before = playout.writtenFrames
        follower.pass(block.span, driftPPM: drift.followedPPM, to: &playout, time: now)
        watch?.hear(.playout, playout.latest(playout.writtenFrames - before))
    }

    /// What is pulled now follows what waits here and in the ring, which follows what the device has.
    private mutating func mixMoment(now: MonotonicTime) -> MixMoment {
        let pending = follower.pendingFrames
        let scale = drift.followedPPM.map { 1 + $0 * 1e-6 } ?? 1
        let dacTime = referenceEnd.map { end in
            let waiting = Double(fill) + pending
            return MonotonicTime(nanoseconds: end.nanoseconds + Int64((waiting * 1e9 / 48_000).rounded()))
        }
        // Where the clock is followed no more, what was pending is left out.
        let held = drift.followedPPM == nil ? 0 : pending * scale
        return MixMoment(ringFrame: Double(playout.writtenFrames) + held, scale: scale, dacTime: dacTime)
    }

    /// How much to pull: what the playback thread takes at a time, at most 10 ms. Where its clock is followed that is
    /// no whole number of frames: then half a millisecond, so that no more is pulled than is needed. Packets then no
    /// longer begin where a pull does. That the jitter buffers hold a little more for it before, stretching where
    /// nobody hears it, they are brought to by pulls of changing length.
    private mutating func nextBlockFrames() -> Int {
        if drift.followedPPM != nil { return Self.smallBlock }
        let whole = min(schedule.period, Uplink.longestBlock)
        guard drift.isPreparing else { return whole }
        isSecondPart.toggle()
        return max(isSecondPart ? whole * 3 / 8 : whole - whole * 3 / 8, 1)
    }

    /// Half a millisecond.
    private static let smallBlock = 24
    /// Blocks that one run pulls at most: all that the ring holds in small ones, or, of a device that takes a few frames
    /// at a time, what the longest margin holds in single frames.
    static let mostPulls = MediaRings.playoutFrames / smallBlock + PlayoutMargin.limit.frames + 2 * smallBlock

    /// The statistics of every talker that is being played.
    mutating func streamStatistics() -> StreamStatisticsTable { streams.report() }
}
