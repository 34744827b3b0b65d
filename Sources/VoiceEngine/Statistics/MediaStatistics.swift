internal import VoicePlayout
internal import VoiceProcessing
internal import VoiceRealtime

/// A mean that forgets: an exponential average over a second of sound, which takes its first value as it comes.
struct SmoothedNanoseconds: BitwiseCopyable, Sendable {
    /// A second at 48 kHz.
    private static let memoryFrames = 48_000.0
    private(set) var value: Double?

    /// Takes a value that holds for `frames` frames of sound.
    mutating func note(_ nanoseconds: Double, frames: Int) {
        guard let value else { return self.value = nanoseconds }
        self.value = value + (nanoseconds - value) * min(1, Double(frames) / Self.memoryFrames)
    }

    mutating func note(_ nanoseconds: Int64, frames: Int) { note(Double(nanoseconds), frames: frames) }
}

/// What the uplink counts. One writer, the media thread; published through a triple buffer.
struct UplinkStatistics: BitwiseCopyable, Sendable {
    var sender = SenderStatistics()
    /// Frames that found the capture ring full.
    var captureOverflowFrames = 0
    /// Of the last block.
    var report = ProcessingReport(inputLevel: -127, outputLevel: -127)
    var echoReadiness = EchoReadiness()
    var alignment: ReferenceAligner.Statistics?
    var delayFrames = 0
    var failedBlocks = 0

    mutating func note(
        _ report: ProcessingReport, _ block: ReferenceAligner.Alignment, _ alignment: ReferenceAligner.Statistics
    ) {
        self.report = report
        delayFrames = block.delay
        self.alignment = alignment
        if !report.processed { failedBlocks += 1 }
    }
}

/// What the downlink counts.
struct DownlinkStatistics: BitwiseCopyable, Sendable {
    var packetsMalformed = 0
    var packetsOfUnknownStreams = 0
    /// Packets of talkers who have no slot.
    var packetsWithoutSlot = 0
    var packetsOfUnknownPayload = 0
    /// Packets that found the receive ring full.
    var packetsDropped = 0
    /// From the pull out of the jitter buffer to the DAC.
    var pullToSpeaker = SmoothedNanoseconds()
    /// From the playback thread's fetching to the DAC.
    var playbackDevice = SmoothedNanoseconds()
    /// How long before a take its block is pulled, in nanoseconds, and how often that has changed.
    var margin: Int64 = 0
    var marginChanges = 0
    /// Holds of a talker that ended because no more could be kept.
    var holdOverflows = 0
    /// Frames of 48 kHz by which following the playback device's clock delays.
    var resamplingFrames = 0.0
    /// The drift that is followed, if any.
    var followedDriftPPM: Double?

    /// The same as a time, in nanoseconds.
    var resampling: Double { resamplingFrames * 1e9 / 48_000 }

    /// From the pull to the playback thread, in nanoseconds: what is left of the way to the DAC.
    var playoutRing: Double? {
        guard let pull = pullToSpeaker.value, let device = playbackDevice.value else { return nil }
        return pull - device - resampling
    }
}

/// What is known of all remote talkers.
typealias StreamStatisticsTable = FixedTable<16, StreamStatistics>

/// What is known of one remote talker.
struct StreamStatistics: BitwiseCopyable, Sendable {
    var synchronizationSource: UInt32 = 0
    var bytesReceived = 0
    /// Variation of the packets' transit times (RFC 3550, appendix A.8), in frames of 48 kHz; nil before the first
    /// packet.
    var jitterTicks: UInt32?
    /// -dBov (RFC 6464).
    var audioLevel: UInt8?
    var targetDelay: Duration = .zero
    /// From a packet's arrival to its turn.
    var jitterBufferDelay = SmoothedNanoseconds()
    var playout = PlayoutStatistics()
}

/// All that the media thread publishes.
package struct MediaStatistics: BitwiseCopyable, Sendable {
    var uplink = UplinkStatistics()
    var downlink = DownlinkStatistics()
    var streams = StreamStatisticsTable(unused: StreamStatistics())
    var farEnds = SpeechCountsTable(unused: SpeechCounts())
    var outgoing = OutgoingCountsTable(unused: OutgoingCounts())
    var listeners = ListenerTable<RemoteInbound>()
    var reports = ReportExchange.Statistics()
    var cost = RunCost()
    var settings = ProcessingSettings()
}
