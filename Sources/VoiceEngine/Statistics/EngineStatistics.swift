public import VoiceCoding
public import VoiceDevices
public import VoicePlayout
public import VoiceProcessing
public import VoiceRooms
public import VoiceTransport

/// All that the engine counts and measures. Names follow the W3C's webrtc-stats where it has them; what is unknown is
/// nil, never 0.
public struct EngineStatistics: Sendable {
    /// The microphone's way.
    public var uplink: Uplink
    /// The way to the loudspeaker.
    public var downlink: Downlink
    /// Each talker that is being played, by synchronization source.
    public var streams: [Stream]
    /// Each far end in this process: ``VoiceEngine/openFarEnd(_:)``.
    public var farEnds: [FarEnd]
    /// Each stream that the app feeds, beside the microphone's: ``VoiceEngine/publish(stream:_:)``.
    public var outgoing: [Outgoing]
    /// What listeners report of the microphone's stream, by their own synchronization sources.
    public var remoteInbound: [RemoteInbound]
    /// RTCP datagrams, sent and received.
    public var reports: Reports
    /// The device's counts.
    public var device: DeviceCounts
    /// The room's control channel; nil outside a room.
    public var room: RoomClientStatistics?
    /// The media thread.
    public var media: Media
    /// Where the time goes between a mouth here and an ear there, and back.
    public var latency: Latency

    /// The microphone's way.
    public struct Uplink: Sendable {
        /// RTP packets handed to the network.
        public var packetsSent: Int
        /// Their bytes, RTP headers included.
        public var bytesSent: Int
        /// Packets lost here because the send ring was full or the codec failed.
        public var packetsDropped: Int
        /// Frames of 48 kHz that the device lost, by its timestamps.
        public var captureGapFrames: Int
        /// Frames that were lost because the media thread did not keep up.
        public var captureOverflowFrames: Int
        /// Whether the near talker speaks.
        public var voiceActivity: Bool
        /// RMS of the last block from the microphone, dBFS.
        public var inputLevel: Float
        /// RMS of the last block after processing, dBFS.
        public var outputLevel: Float
        /// RMS of the last block of the far end as it was played when that came in, dBFS.
        public var referenceLevel: Float?
        /// Probability that there is a near talker in the last block, 0...1, what may be left of an echo discounted.
        public var speechProbability: Float?
        /// Level of the near end's noise, dBFS.
        public var noiseLevel: Float?
        /// Loudness of what is sent, over 3 s, LUFS (ITU-R BS.1770-4).
        public var loudness: Float?
        /// Whether an interruption can be trusted not to be an echo, and why.
        public var echoReadiness: EchoReadiness
        /// How hard the canceller suppresses what its filter leaves, which `.auto` chooses; nil where it does not tell.
        public var echoSuppression: ProcessingSettings.EchoSuppression?
        /// Echo return loss, dB.
        public var echoReturnLoss: Float?
        /// Echo return loss enhancement, dB.
        public var echoReturnLossEnhancement: Float?
        /// What is wrong with the canceller's reference, and what changed at once; nil where the backend does not look.
        public var referenceIntegrity: ReferenceIntegrity?
        /// The delay given to the canceller for the last block, in frames of 48 kHz, from the device's timestamps.
        public var referenceDelayFrames: Int
        /// How well the reference is aligned.
        public var alignment: ReferenceAligner.Statistics?
        /// What is being done to the microphone.
        public var processing: ProcessingSettings
        /// Blocks that the processing library failed on, passed unprocessed.
        public var failedBlocks: Int
        /// How the next packet will be encoded: the configuration, as changed by what listeners report.
        public var encoder: OpusEncoderSettings?
        /// How many earlier packets each repeats now (RFC 2198).
        public var copies: Int
        /// Bytes sent so far of packets repeated, with their headers; part of ``bytesSent``.
        public var copyBytesSent: Int
    }

    /// The way to the loudspeaker.
    public struct Downlink: Sendable {
        /// Datagrams that are not RTP.
        public var packetsMalformed: Int
        /// RTP of streams that nobody announced.
        public var packetsOfUnknownStreams: Int
        /// RTP of talkers who are not played, because ``EngineConfiguration/maximumStreams`` others are audible or they
        /// are not.
        public var packetsWithoutSlot: Int
        /// RTP that is not Opus as this engine sends it.
        public var packetsOfUnknownPayload: Int
        /// Packets lost here because the media thread did not keep up.
        public var packetsDropped: Int
        /// How long before the playback thread comes for it a block is pulled now; see ``PlayoutMargin``.
        public var playoutMargin: Duration
        /// How often that has changed.
        public var playoutMarginChanges: Int
        /// Holds of a talker who was spoken into that ended because 5 s were kept; see
        /// ``VoiceEngine/setBargeIn(_:for:)``.
        public var holdOverflows: Int
        /// The drift of the playback device's clock that the sound is resampled for, in ppm; nil while it is played as
        /// it is.
        public var followedDriftPPM: Double?
    }

    /// One talker.
    public struct Stream: Sendable {
        /// Whose stream it is: ``Participant/id``; nil where the room has not told, or there is none.
        public var participant: ParticipantID?
        /// Their RTP synchronization source.
        public var synchronizationSource: UInt32
        /// Bytes of payload received.
        public var bytesReceived: Int
        /// Variation of the packets' transit times (RFC 3550, appendix A.8); nil before the first packet.
        public var jitter: Duration?
        /// The talker's own level in the last packet, -dBov; nil where none was sent (RFC 6464).
        public var audioLevel: UInt8?
        /// The jitter buffer's target now.
        public var targetDelay: Duration
        /// What the jitter buffer lately held a packet for, from its arrival to its turn; nil before the first.
        public var jitterBufferDelay: Duration?
        /// The jitter buffer's counts.
        public var playout: PlayoutStatistics
    }

    /// The media thread.
    public struct Media: Sendable {
        /// Runs of the pipeline.
        public var ticks: Int
        /// CPU time of the thread.
        public var cpuTime: Duration
        /// The longest run since warm-up, by the monotonic clock: with what the system took from the thread meanwhile.
        public var worstTick: Duration
        /// Allocations since warm-up; nil where the process does not count them.
        public var allocations: Int64?
    }

    /// The stages of a frame's way that lie in this engine, each measured here; smoothed over about a second.
    /// ``LatencyBudget`` joins those of two engines.
    public struct Latency: Sendable {
        /// From the ADC of a packet's last frame to the media thread: the device's period, two wake-ups, the capture
        /// ring.
        public var capture: Duration?
        /// From the first frame of a packet to the end of its last, by the times of the ADC.
        public var frame: Duration?
        /// What the processing adds.
        public var processing: Duration
        /// From the media thread's wake-up to the packet's being in the send ring.
        public var encoding: Duration?
        /// What the encoder looks ahead.
        public var codecLookahead: Duration
        /// The usual round trip to the room, halved; once up and once down make a way through the room.
        public var halfRoundTrip: Duration?
        /// What following the playback device's clock adds.
        public var resampling: Duration
        /// From the pull out of the jitter buffer to the playback thread.
        public var playoutRing: Duration?
        /// From the playback thread to the DAC.
        public var playbackDevice: Duration?

        /// From the ADC to the send ring, for a packet's first frame: capture, frame and encoding.
        public var microphoneToNetwork: Duration? {
            guard let capture, let frame, let encoding else { return nil }
            return capture + frame + encoding
        }

        /// From the pull out of the jitter buffer to the DAC: resampling, playout ring and device.
        public var pullToSpeaker: Duration? {
            guard let playoutRing, let playbackDevice else { return nil }
            return resampling + playoutRing + playbackDevice
        }
    }

    package init(
        _ media: MediaStatistics, device: DeviceCounts, roundTrip: Duration?, room: RoomClientStatistics?,
        talkers: [UInt32: ParticipantID] = [:]
    ) {
        self.device = device
        self.room = room
        uplink = Uplink(media.uplink, processing: media.settings)
        remoteInbound = (0..<media.listeners.count).map { RemoteInbound(media.listeners[$0]) }
        reports = Reports(media.reports)
        downlink = Downlink(
            packetsMalformed: media.downlink.packetsMalformed,
            packetsOfUnknownStreams: media.downlink.packetsOfUnknownStreams,
            packetsWithoutSlot: media.downlink.packetsWithoutSlot,
            packetsOfUnknownPayload: media.downlink.packetsOfUnknownPayload,
            packetsDropped: media.downlink.packetsDropped, playoutMargin: .nanoseconds(media.downlink.margin),
            playoutMarginChanges: media.downlink.marginChanges, holdOverflows: media.downlink.holdOverflows,
            followedDriftPPM: media.downlink.followedDriftPPM)
        streams = (0..<media.streams.count).map { index in
            var stream = Stream(media.streams[index])
            stream.participant = talkers[stream.synchronizationSource]
            return stream
        }
        farEnds = (0..<media.farEnds.count).map { FarEnd(media.farEnds[$0]) }
        outgoing = (0..<media.outgoing.count).map { Outgoing(media.outgoing[$0]) }
        self.media = Media(
            ticks: media.cost.runs, cpuTime: .nanoseconds(media.cost.cpuNanoseconds),
            worstTick: .nanoseconds(media.cost.longestNanoseconds),
            allocations: media.cost.allocations)
        latency = Latency(
            capture: media.uplink.sender.capture.duration, frame: media.uplink.sender.frame.duration,
            processing: Duration(frames: media.uplink.report.processingDelay),
            encoding: media.uplink.sender.encoding.duration,
            codecLookahead: Duration(frames: media.uplink.sender.codecLookaheadFrames),
            halfRoundTrip: roundTrip.map { $0 / 2 },
            resampling: .nanoseconds(Int64(media.downlink.resampling)),
            playoutRing: media.downlink.playoutRing.map { .nanoseconds(Int64($0)) },
            playbackDevice: media.downlink.playbackDevice.duration)
    }
}

extension EngineStatistics.Uplink {
    init(_ uplink: UplinkStatistics, processing: ProcessingSettings) {
        let sender = uplink.sender
        packetsSent = sender.packetsSent
        bytesSent = sender.bytesSent
        packetsDropped = sender.packetsDropped
        captureGapFrames = sender.captureGapFrames
        captureOverflowFrames = uplink.captureOverflowFrames
        let report = uplink.report
        voiceActivity = report.voiceActivity ?? false
        inputLevel = report.inputLevel
        outputLevel = report.outputLevel
        referenceLevel = report.referenceLevel
        speechProbability = report.speechProbability
        noiseLevel = report.noiseLevel
        loudness = report.shortTermLoudness
        echoReadiness = uplink.echoReadiness
        echoSuppression = report.echoSuppression
        referenceIntegrity = report.referenceIntegrity
        echoReturnLoss = report.echoReturnLoss
        echoReturnLossEnhancement = report.echoReturnLossEnhancement
        referenceDelayFrames = uplink.delayFrames
        alignment = uplink.alignment
        self.processing = processing
        failedBlocks = uplink.failedBlocks
        encoder = sender.plan?.settings
        copies = sender.plan?.copies ?? 0
        copyBytesSent = sender.copyBytesSent
    }
}

extension EngineStatistics.Stream {
    init(_ stream: StreamStatistics) {
        synchronizationSource = stream.synchronizationSource
        bytesReceived = stream.bytesReceived
        jitter = stream.jitterTicks.map { Duration(frames: Int($0)) }
        audioLevel = stream.audioLevel
        targetDelay = stream.targetDelay
        jitterBufferDelay = stream.jitterBufferDelay.duration
        playout = stream.playout
    }
}

extension SmoothedNanoseconds {
    var duration: Duration? { value.map { .nanoseconds(Int64($0)) } }
}
