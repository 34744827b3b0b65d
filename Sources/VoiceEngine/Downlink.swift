internal import VoiceCoding
internal import VoicePlayout
internal import VoiceRealtime
internal import VoiceWire

/// The network's way to the loudspeaker, run by the media thread.
///
///     receive ring ─► jitter buffer ─► Opus decode, FEC, conceal ─► volume ─┐
///                     (one for each talker)                                  ├─► mix ─► limiter ─► playout ring
///     ...                                                         volume ─┘
///
/// The playback clock drives it: whenever the playout ring runs below its target, one block is pulled. Nothing is allocated after `init`.
struct Downlink: ~Copyable {
    private var received: PacketConsumer
    private var playout: FrameProducer
    private var streams: StreamTable
    /// How many frames the playout ring is kept filled with.
    private let targetFill: Int
    /// How many frames are pulled at a time: a device period, at most 10 ms.
    private let blockFrames: Int
    private let devicePeriod: Int
    /// When the last frame so far given to the loudspeaker leaves the DAC.
    private var referenceEnd: MonotonicTime?
    private var limiter = MixLimiter()
    private var mix = InlineArray<480, Float>(repeating: 0)
    private var scratch = InlineArray<480, Float>(repeating: 0)
    private(set) var statistics = DownlinkStatistics()

    init(
        received: consuming PacketConsumer, playout: consuming FrameProducer, configuration: EngineConfiguration,
        devicePeriod: Int
    ) throws(EngineError) {
        do throws(OpusError) {
            streams = try StreamTable(count: configuration.maximumStreams, configuration: configuration.playout)
        } catch {
            throw EngineError(error)
        }
        self.received = received
        self.playout = playout
        self.devicePeriod = devicePeriod
        blockFrames = min(max(devicePeriod, 1), Uplink.blockFrames)
        targetFill = devicePeriod + configuration.playoutMarginFrames
        precondition(targetFill + blockFrames <= self.playout.capacity, "the ring would never be full enough")
    }

    /// False when every slot is taken.
    mutating func addStream(_ source: UInt32) -> Bool { streams.add(source) }

    mutating func removeStream(_ source: UInt32) { streams.remove(source) }

    mutating func setVolume(_ gain: Float, of source: UInt32) {
        streams.setVolume(gain, of: source)
    }

    /// Takes in every packet that has arrived and refills the playout ring. `take` is what the playback thread has taken since the last run.
    mutating func run(_ clock: RunClock, take: PlaybackTake?) {
        if let take { note(take, seen: clock.start) }
        receive()
        while playout.fill < targetFill { produce(now: clock.start) }
    }

    private mutating func note(_ take: PlaybackTake, seen now: MonotonicTime) {
        referenceEnd = take.end
        let lead = take.end.nanoseconds - now.nanoseconds - Int64(devicePeriod) * 1_000_000_000 / 48_000
        statistics.playbackDevice.note(lead, frames: take.frames)
    }

    private mutating func receive() {
        while received.available > 0 {
            switch Self.hand(received, to: &streams) {
            case .taken: break
            case .unknownStream: statistics.packetsOfUnknownStreams += 1
            case .unknownPayload: statistics.packetsOfUnknownPayload += 1
            case .malformed: statistics.packetsMalformed += 1
            }
            received.release()
        }
        statistics.packetsDropped = received.droppedPackets
    }

    private enum Reception { case taken, unknownStream, unknownPayload, malformed }

    private static func hand(_ received: borrowing PacketConsumer, to streams: inout StreamTable) -> Reception {
        let arrival = received.tag().time.sinceEpoch
        do {
            let packet = try RTPPacket(parsing: received.peek())
            guard packet.header.payloadType == Uplink.payloadType else { return .unknownPayload }
            let isKnown = streams.insert(packet, arrival: arrival)
            return isKnown ? .taken : .unknownStream
        } catch {
            return .malformed
        }
    }

    private mutating func produce(now: MonotonicTime) {
        var mixSpan = mix.mutableSpan
        var block = mixSpan._mutatingExtracting(0..<blockFrames)
        for index in 0..<blockFrames { block[index] = 0 }
        var scratchSpan = scratch.mutableSpan
        var scratchBlock = scratchSpan._mutatingExtracting(0..<blockFrames)
        streams.mix(into: &block, scratch: &scratchBlock, now: now.sinceEpoch)
        limiter.apply(to: &block)
        if let referenceEnd {
            // What is pulled now follows what lies in the ring, which follows what the device has.
            let dacTime = referenceEnd.advanced(byFrames: playout.fill, sampleRate: 48_000)
            statistics.pullToSpeaker.note(dacTime.nanoseconds - now.nanoseconds, frames: blockFrames)
        }
        _ = playout.write(block.span, time: now)
    }

    /// The statistics of every talker that is being played.
    mutating func streamStatistics() -> StreamStatisticsTable { streams.report() }
}
