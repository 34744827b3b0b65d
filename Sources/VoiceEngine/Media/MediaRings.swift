internal import VoiceDevices
internal import VoiceRealtime

/// The ends of all rings at which the media pipeline meets the other threads, by who has them.
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

    var devices: DeviceEnds
    var pipeline: PipelineEnds
    var control: ControlEnds

    /// The devices' threads.
    struct DeviceEnds: ~Copyable {
        var capture: FrameProducer
        var reference: FrameProducer
        var playout: FrameConsumer
        var rendered: ValueProducer<RenderedSpan>
    }

    /// The media thread's.
    struct PipelineEnds: ~Copyable {
        var capture: FrameConsumer
        var reference: FrameConsumer
        var playout: FrameProducer
        var received: PacketConsumer
        var sending: PacketProducer
        var rendered: ValueConsumer<RenderedSpan>
        var commands: ValueConsumer<MediaCommand>
        var events: ValueProducer<MediaEvent>
        var farEndNews: ValueProducer<FarEndNews>
        var statistics: TripleBufferWriter<MediaStatistics>
    }

    /// The control side's and the network's.
    struct ControlEnds: ~Copyable {
        var received: PacketProducer
        var sending: PacketConsumer
        var commands: ValueProducer<MediaCommand>
        var events: ValueConsumer<MediaEvent>
        var farEndNews: ValueConsumer<FarEndNews>
        var statistics: TripleBufferReader<MediaStatistics>
    }

    init() throws(EngineError) {
        let capture = try FrameRing.made(frames: Self.captureFrames)
        let reference = try FrameRing.made(frames: Self.captureFrames)
        let playout = try FrameRing.made(frames: Self.playoutFrames)
        let received = PacketRing(minimumSlots: Self.packets)
        let sending = PacketRing(minimumSlots: Self.packets)
        let rendered = ValueRing<RenderedSpan>(minimumCapacity: Self.renderedSpans)
        let commands = ValueRing<MediaCommand>(minimumCapacity: Self.commandCapacity)
        let events = ValueRing<MediaEvent>(minimumCapacity: Self.eventCapacity)
        let farEndNews = ValueRing<FarEndNews>(minimumCapacity: Self.eventCapacity)
        let statistics = TripleBuffer(MediaStatistics())
        devices = DeviceEnds(
            capture: capture.producer, reference: reference.producer, playout: playout.consumer,
            rendered: rendered.producer)
        pipeline = PipelineEnds(
            capture: capture.consumer, reference: reference.consumer, playout: playout.producer,
            received: received.consumer, sending: sending.producer, rendered: rendered.consumer,
            commands: commands.consumer, events: events.producer, farEndNews: farEndNews.producer,
            statistics: statistics.writer)
        control = ControlEnds(
            received: received.producer, sending: sending.consumer, commands: commands.producer,
            events: events.consumer, farEndNews: farEndNews.consumer, statistics: statistics.reader)
    }
}
