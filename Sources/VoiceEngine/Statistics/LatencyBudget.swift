/// Where the time between a mouth and an ear goes, stage by stage in the order of the signal.
///
///     ADC ─► capture ─► frame ─► processing ─► encoding ─► codecLookahead ─► network ─┐
///     DAC ◄─ playbackDevice ◄─ playoutRing ◄─ resampling ◄─ jitterBuffer ◄────────────┘
///
/// Each stage is measured by the engine that it lies in and smoothed over about a second; together they are the way of
/// a packet's first frame from the air before the one's microphone to the air before the other's loudspeaker. A stage
/// that is not known yet is nil, and then so is the ``total``.
public struct LatencyBudget: Equatable, Sendable {
    /// A part of the way.
    public enum Stage: String, CaseIterable, Sendable, CustomStringConvertible {
        /// From the ADC of a packet's last frame to the media thread: the device's period, two wake-ups, the capture
        /// ring.
        case capture
        /// The packet itself: its first frame waits for its last.
        case frame
        /// What the echo canceller, the noise suppressor and the gain control add.
        case processing
        /// From the media thread's wake-up to the packet's being handed to the network: computing time.
        case encoding
        /// What the codec looks ahead.
        case codecLookahead
        /// From engine to engine through the room.
        case network
        /// From a packet's arrival to its turn: what the jitter buffer holds it for.
        case jitterBuffer
        /// What following the playback device's clock adds.
        case resampling
        /// From the jitter buffer to the playback thread.
        case playoutRing
        /// From the playback thread to the DAC: the device's buffer.
        case playbackDevice

        /// The stage's name.
        public var description: String { rawValue }
    }

    private var durations: [Stage: Duration] = [:]

    /// A budget of which nothing is known.
    public init() {}

    /// The way from the talker at one engine to the listener at another, from statistics taken at about the same time.
    ///
    /// - Parameters:
    ///   - talker: of the engine that is spoken into.
    ///   - listener: of the engine that plays it.
    ///   - source: whose stream it is that the listener hears; nil for the first that is played.
    ///   - network: the time from engine to engine, where the caller knows it; else it is half a round trip to the room
    ///     from each of the two.
    public init(
        from talker: EngineStatistics, to listener: EngineStatistics, source: UInt32? = nil, network: Duration? = nil
    ) {
        let up = talker.latency
        let down = listener.latency
        let stream = listener.streams.first { source == nil || $0.synchronizationSource == source }
        self[.capture] = up.capture
        self[.frame] = up.frame
        self[.processing] = up.processing
        self[.encoding] = up.encoding
        self[.codecLookahead] = up.codecLookahead
        self[.network] = network ?? up.halfRoundTrip.flatMap { near in down.halfRoundTrip.map { near + $0 } }
        self[.jitterBuffer] = stream?.jitterBufferDelay
        self[.resampling] = down.resampling
        self[.playoutRing] = down.playoutRing
        self[.playbackDevice] = down.playbackDevice
    }

    /// How long a stage takes; nil while that is not known.
    public subscript(stage: Stage) -> Duration? {
        get { durations[stage] }
        set { durations[stage] = newValue }
    }

    /// The whole way; nil while a stage is not known.
    public var total: Duration? {
        Stage.allCases.reduce(Duration.zero as Duration?) { sum, stage in
            sum.flatMap { sum in self[stage].map { sum + $0 } }
        }
    }
}
