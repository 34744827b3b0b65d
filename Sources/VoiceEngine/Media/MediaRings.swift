internal import VoiceDevices
internal import VoiceRealtime

/// All rings at which the media pipeline meets the other threads.
struct MediaRings: ~Copyable {
    /// 340 ms at 48 kHz: what the media thread may be late by before microphone frames are lost.
    static let captureFrames = 16_384
    /// 340 ms at 48 kHz: longer than any period in use; filled up to the configured target only.
    static let playoutFrames = 16_384
    /// Half a second of 10 ms packets from each of the most talkers.
    private static let packets = 1_024
    /// What the media thread may be late by before it is not known any more when a far end was heard: 340 ms of the
    /// shortest periods, 32 frames.
    private static let renderedSpans = 512
    /// Commands between two runs of the media thread: the streams of the largest room may all come at once, or change.
    private static let commandCapacity = 2 * StreamTable.maximumMembers
    /// Events and news of far ends between two looks at them.
    private static let eventCapacity = 256

    var capture: FrameRing
    var reference: FrameRing
    var playout: FrameRing
    var received: PacketRing
    var sending: PacketRing
    var rendered: ValueRing<RenderedSpan>
    var commands: ValueRing<MediaCommand>
    var events: ValueRing<MediaEvent>
    var farEndNews: ValueRing<FarEndNews>
    var statistics: TripleBuffer<MediaStatistics>

    init() throws(EngineError) {
        let capture = try FrameRing.made(frames: Self.captureFrames)
        let reference = try FrameRing.made(frames: Self.captureFrames)
        let playout = try FrameRing.made(frames: Self.playoutFrames)
        self.capture = capture
        self.reference = reference
        self.playout = playout
        received = PacketRing(minimumSlots: Self.packets)
        sending = PacketRing(minimumSlots: Self.packets)
        rendered = ValueRing(minimumCapacity: Self.renderedSpans)
        commands = ValueRing(minimumCapacity: Self.commandCapacity)
        events = ValueRing(minimumCapacity: Self.eventCapacity)
        farEndNews = ValueRing(minimumCapacity: Self.eventCapacity)
        statistics = TripleBuffer(MediaStatistics())
    }
}
