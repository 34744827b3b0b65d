internal import Synchronization
public import VoiceCoding
public import VoiceDevices
internal import VoiceRooms
internal import VoiceTurns

/// How a stream that an app feeds is encoded, and how much of it may wait.
public struct OutgoingStreamConfiguration: Equatable, Sendable {
    /// What the codec optimises for.
    public var application: OpusApplication
    /// How it is encoded, as far as ``adaptation`` leaves it.
    public var encoder: OpusEncoderSettings
    /// How far that follows what listeners report of this stream: less bandwidth where the path has no more, and
    /// repetitions where packets are lost.
    public var adaptation: SenderAdaptationPolicy
    /// How much sound waits at most, 0.1 s to 2 min; ``OutgoingStream/play(_:rate:)`` suspends when so much does.
    public var queue: Duration

    /// A stream; what is not given is as in ``music``.
    public init(
        application: OpusApplication = .music, encoder: OpusEncoderSettings = music.encoder,
        queue: Duration = .seconds(5), adaptation: SenderAdaptationPolicy = .adaptive
    ) {
        self.application = application
        self.encoder = encoder
        self.queue = queue
        self.adaptation = adaptation
    }

    /// Music and whatever else there is to hear, 96 kbit/s in packets of 20 ms.
    public static let music = OutgoingStreamConfiguration(
        application: .music, encoder: OpusEncoderSettings(bitratePerSecond: 96_000, usesForwardErrorCorrection: false),
        queue: .seconds(5))

    /// Speech, 32 kbit/s in packets of 20 ms.
    public static let speech = OutgoingStreamConfiguration(application: .voip, encoder: .voice, queue: .seconds(5))

    var encoding: StreamEncoding {
        StreamEncoding(application: application, settings: encoder, adaptation: adaptation)
    }
}

/// A stream that the app feeds and the room hears, beside the microphone's: an agent's music beside its speech, say. It
/// is not processed, not muted with the microphone, and not heard here.
///
///     let music = try await engine.publish(stream: "music")
///     try await music.play(encoded: EncodedSound(path: "waltz.ogg"))
///
/// What is played goes out in real time as the microphone's clock has it; where nothing waits, nothing is sent. Methods
/// may be called from any thread, those that play by one task at a time. Letting it go withdraws it; the engine's stop
/// does too.
public final class OutgoingStream: Sendable {
    /// How many an engine can publish beside the microphone: a participant has four streams in all.
    public static let maximumStreams = RoomProtocol.streamLimit - 1

    /// The name under which others play it.
    public let name: String
    /// Which one it is, in ``EngineStatistics/farEnds``.
    public var id: FarEndID { source.id }
    package let source: LocalFarEnd
    /// The first utterance that has not been finished.
    private let unfinished = Mutex<UInt32>(0)

    init(_ source: LocalFarEnd, name: String) {
        self.source = source
        self.name = name
    }

    /// What is played now is of this utterance: none that was finished or interrupted.
    private var present: UtteranceID {
        let interrupted = UInt32(truncatingIfNeeded: source.access.cells.interruptedBound)
        return UtteranceID(rawValue: max(unfinished.withLock { $0 }, interrupted))
    }

    /// Queues sound; suspends while the queue is full. Faster than real time is normal.
    ///
    /// - Parameters:
    ///   - samples: mono, full scale ±1; beyond it is clipped.
    ///   - rate: of the samples.
    /// - Returns: whether all was queued; false where it was interrupted, the stream is closed, or the task was
    ///   cancelled.
    @discardableResult
    public func play(_ samples: [Float], rate: SoundRate = .hertz48000) async -> Bool {
        await source.play(samples, rate: rate, utterance: present)
    }

    /// The same of 16-bit samples.
    @discardableResult
    public func play(_ samples: [Int16], rate: SoundRate = .hertz48000) async -> Bool {
        await source.play(samples, rate: rate, utterance: present)
    }

    /// Queues a whole sound that is encoded; see ``LocalFarEnd/play(encoded:utterance:)``.
    ///
    /// - Throws: what is wrong with the sound; what came before that has been queued.
    @discardableResult
    public func play(encoded sound: EncodedSound) async throws(AudioFileError) -> Bool {
        try await source.play(encoded: sound, utterance: present)
    }

    /// Queues what there is room for, from one thread, and does not suspend. Returns how many samples were taken.
    public func offer(_ samples: Span<Float>, rate: SoundRate = .hertz48000) -> Int {
        source.offer(samples, rate: rate, utterance: present)
    }

    /// Says that a piece ends here, and waits until all of it has been sent or was interrupted, the stream is closed or
    /// the task cancelled; what is played next begins anew. Returns at once where nothing was played since.
    public func finish() async {
        let present = present
        if source.access.cells.latestBound > UInt64(present.rawValue) {
            await source.finish(present)
            unfinished.withLock { $0 = max($0, present.rawValue + 1) }
        }
        await source.waitUntilPlayed()
    }

    /// Drops what waits, behind a fade of 5 ms; what is played from now on is sent. A listener who may interrupt this
    /// engine (``RoomClientConfiguration/interruptibleBy``) does the same.
    public func interrupt() { source.interrupt() }

    /// Scales what is sent: 0 silences, 1 leaves it, up to 4 (+12 dB).
    ///
    /// - Throws: ``EngineError/invalidConfiguration(_:)``.
    public func setVolume(_ volume: Float) throws(EngineError) { try source.setVolume(volume) }

    /// Withdraws it: what was being sent fades out. May be called again.
    public func close() { source.close() }
}
