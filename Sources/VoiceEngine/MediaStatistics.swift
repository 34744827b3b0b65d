internal import VoicePlayout
internal import VoiceProcessing
internal import VoiceRealtime

/// A mean that forgets: an exponential average over about a second, which takes its first value as it comes.
struct SmoothedNanoseconds: BitwiseCopyable, Sendable {
    /// Weight of a new value: 1/50, a second of 20 ms packets.
    static let weight = 0.02
    private(set) var value: Double?

    mutating func note(_ nanoseconds: Int64) {
        value = value.map { $0 + (Double(nanoseconds) - $0) * Self.weight } ?? Double(nanoseconds)
    }
}

/// What the uplink counts. One writer, the media thread; published through a triple buffer.
struct UplinkStatistics: BitwiseCopyable, Sendable {
    var packetsSent = 0
    var bytesSent = 0
    /// Packets that could not be sent because the send ring was full or the codec failed.
    var packetsDropped = 0
    /// Frames that the device lost before the capture ring, by its timestamps.
    var captureGapFrames = 0
    /// Frames that found the capture ring full.
    var captureOverflowFrames = 0
    var voiceActivity = false
    var inputLevel: Float = -127
    var outputLevel: Float = -127
    var echoReturnLoss: Float?
    var echoReturnLossEnhancement: Float?
    var alignment: ReferenceAligner.Statistics?
    var delayFrames = 0
    var processingDelayFrames = 0
    var codecLookaheadFrames = 0
    var failedBlocks = 0
    var microphoneToNetwork = SmoothedNanoseconds()
    /// When the last frame so far given to the loudspeaker leaves the DAC.
    var referenceEnd: MonotonicTime?

    mutating func note(
        _ report: ProcessingReport, _ block: ReferenceAligner.Alignment, _ alignment: ReferenceAligner.Statistics
    ) {
        inputLevel = report.inputLevel
        outputLevel = report.outputLevel
        echoReturnLoss = report.echoReturnLoss
        echoReturnLossEnhancement = report.echoReturnLossEnhancement
        processingDelayFrames = report.processingDelay
        delayFrames = block.delay
        self.alignment = alignment
        if !report.processed { failedBlocks += 1 }
    }

    mutating func noteSent(bytes: Int, microphoneToNetwork nanoseconds: Int64) {
        packetsSent += 1
        bytesSent += bytes
        microphoneToNetwork.note(nanoseconds)
    }
}

/// What the downlink counts.
struct DownlinkStatistics: BitwiseCopyable, Sendable {
    var packetsMalformed = 0
    var packetsOfUnknownStreams = 0
    var packetsOfUnknownPayload = 0
    /// Packets that found the receive ring full.
    var packetsDropped = 0
    /// From the pull out of the jitter buffer to the DAC.
    var pullToSpeaker = SmoothedNanoseconds()

    mutating func notePlayout(delay nanoseconds: Int64) { pullToSpeaker.note(nanoseconds) }
}

/// What is known of one remote talker.
struct StreamStatistics: BitwiseCopyable, Sendable {
    var synchronizationSource: UInt32 = 0
    var bytesReceived = 0
    /// -dBov (RFC 6464).
    var audioLevel: UInt8?
    var targetDelay: Duration = .zero
    var playout = PlayoutStatistics()
}

/// The statistics of all talkers, in a value of fixed size that can go through a triple buffer.
struct StreamStatisticsTable: BitwiseCopyable, Sendable {
    private(set) var count = 0
    private var entries = InlineArray<16, StreamStatistics>(repeating: StreamStatistics())

    mutating func append(_ statistics: StreamStatistics) {
        guard count < entries.count else { return }
        entries[count] = statistics
        count += 1
    }

    subscript(index: Int) -> StreamStatistics { entries[index] }
}

/// All that the media thread publishes.
package struct MediaStatistics: BitwiseCopyable, Sendable {
    var uplink = UplinkStatistics()
    var downlink = DownlinkStatistics()
    var streams = StreamStatisticsTable()
    /// Runs of the pipeline.
    var ticks = 0
    /// CPU time of the runs, in nanoseconds.
    var cpuNanoseconds: Int64 = 0
    /// The dearest run, in nanoseconds of CPU time.
    var worstTickNanoseconds: Int64 = 0
    /// Allocations since warm-up; nil where nobody counts.
    var allocations: Int64?
    var settings = ProcessingSettings()
}
