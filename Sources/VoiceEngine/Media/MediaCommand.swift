package import VoiceProcessing
internal import VoiceRealtime
package import VoiceTurns

/// What the control side tells the media thread, through the command ring.
package enum MediaCommand: BitwiseCopyable, Sendable {
    /// Keep the microphone for a room that is being joined, up to a second, until one of the next three comes.
    case keepForRoom
    /// Send the microphone, or what an app feeds, as this RTP stream from the next frame on.
    case publish(RTPStreamStart)
    /// Report what is received as this participant, without sending a stream.
    case report(as: RTPStreamStart)
    /// Send nothing more.
    case stopPublishing
    /// Send nothing more of a stream that an app feeds.
    case stopStream(line: UInt64)
    /// A stream that an app feeds was interrupted: what waits of it is dropped.
    case beginStreamGeneration(UInt32, line: UInt64)
    /// Stop or resume sending the microphone, with a short fade.
    case setMuted(Bool)
    /// What to send while muted.
    case setMuteKind(MuteKind)
    /// Change what is done to the microphone.
    case setProcessing(ProcessingSettings)
    /// Encode and adapt this way from the next packet on.
    case setSending(EngineConfiguration.Sending)
    /// Another device captures from now on.
    case changeCapture
    /// Another device plays from now on, this many frames of 48 kHz at a time.
    case changePlayback(periodFrames: Int)
    /// Play the stream of this synchronization source, when it is audible. It is a participant's, 0 for nobody's, who
    /// may be muted.
    case addStream(
        synchronizationSource: UInt32, participant: UInt32 = 0, isMuted: Bool = false, generation: UInt32 = 0)
    /// Its talker sends nothing on purpose, or sends again.
    case setStreamMuted(Bool, synchronizationSource: UInt32)
    /// Play it no more.
    case removeStream(synchronizationSource: UInt32)
    /// Scale the stream's samples by `gain`, 0 or more; 1 leaves them as they are.
    case setVolume(gain: Float, synchronizationSource: UInt32)
    /// Bring talkers to like loudness, or no more.
    case levelTalkers(TalkerLevelling?)
    /// Have this generation of the stream in force: what waits of older ones is dropped, since its talker was
    /// interrupted.
    case flush(generation: UInt32, synchronizationSource: UInt32)
    /// What is sent from now on is of this generation: the stream was interrupted. What is left of the utterance that
    /// is being said is not sent.
    case beginGeneration(UInt32)
    /// What is sent from now on is of this utterance; nil: of none.
    case beginUtterance(UInt32?)
    /// Play and feed a far end in this process, until it is closed.
    case openFarEnd(FarEndHandle)
    /// Feed a sink of one participant, or of a point of the way, until it is closed.
    case openSink(SinkHandle)
    /// Call a listener, until it is closed.
    case openListener(ListenerHandle)
    /// Measure levels, until the meter is closed.
    case openMeter(MeterHandle)
    /// Watch a far end's answers for interruptions, or no more.
    case watchAnswers(AnswerWatchOrder)
    /// Watch a participant of the room for interruptions, or nobody any more.
    case watchTalker(TalkerWatchOrder)
    /// A recogniser has heard words in what is suspected to be an interruption.
    case confirmBargeIn
    /// Send what was kept of the microphone and all that follows.
    case openGate
    /// Send nothing more of the microphone, and keep so many frames for the next opening.
    case closeGate(keeping: Int)
}

/// Where an outgoing RTP stream begins (RFC 3550, section 5.1: sequence number and timestamp start at random).
package struct RTPStreamStart: BitwiseCopyable, Sendable {
    var synchronizationSource: UInt32
    var sequenceNumber: UInt16
    var timestamp: UInt32
    /// The generation that the room has numbered last.
    var generation: UInt32
    private let flags: UInt32
    /// Which far end's sound it is, of those that apps feed; 0: the microphone's.
    var line: UInt64
    /// Makes this the longest payload of ``MediaCommand`` and a multiple of 8 bytes long, so that the enum's tag has a
    /// word of its own. Swift 6.3.1 optimises such a tag away where it shares one with the end of a shorter payload
    /// whose last bytes it takes for undefined: then `setProcessing`, chosen between two constants, arrived as any
    /// other command. MediaCommandTests has the layout.
    private let reserved = InlineArray<38, UInt32>(repeating: 0)

    /// Whether packets may repeat earlier ones (RFC 2198): everybody takes that, or the room takes it out.
    var mayRepeat: Bool { flags != 0 }

    /// A stream of this synchronization source, whose first packet carries these numbers.
    package init(
        synchronizationSource: UInt32, sequenceNumber: UInt16, timestamp: UInt32, generation: UInt32 = 0,
        mayRepeat: Bool = false, line: UInt64 = 0
    ) {
        self.synchronizationSource = synchronizationSource
        self.sequenceNumber = sequenceNumber
        self.timestamp = timestamp
        self.generation = generation
        flags = mayRepeat ? 1 : 0
        self.line = line
    }

    /// The same stream, whose first packet follows on what was sent of `former` where that has its source: under the
    /// same keys no number may come twice (RFC 3711, section 9.1).
    func following(_ former: RTPStreamStart?) -> RTPStreamStart {
        guard let former, former.synchronizationSource == synchronizationSource else { return self }
        var start = self
        (start.sequenceNumber, start.timestamp) = (former.sequenceNumber, former.timestamp)
        return start
    }
}

/// What the media thread tells the control side, through the event ring.
package enum MediaEvent: BitwiseCopyable, Sendable {
    /// The near talker began to speak.
    case speechStarted(SpeechMoment)
    /// What began to be speech and was doubtful has lasted.
    case speechBelieved
    /// The near talker stopped speaking.
    case speechEnded(SpeechMoment)
    /// The echo canceller can be trusted from now on, or no more.
    case echoReadinessChanged(EchoReadiness)
    /// The canceller's reference has a problem, or no more, or the echo's gain or delay has changed.
    case referenceIntegrity(ReferenceIntegrity.Change)
    /// The processing backend refused settings that had passed validation; the old ones stay.
    case processingRefused
    /// A stream is audible while every slot is taken by others that are, or is one too many for the table.
    case tooManyStreams(synchronizationSource: UInt32)
    /// Something has changed about a participant.
    case streamCondition(participant: UInt32, StreamCondition)
    /// The reference was re-timed, because the devices' clocks or delays moved.
    case referenceRetimed
    /// The first packet of a generation of our stream was sent.
    case generationStarted(generation: UInt32, timestamp: UInt32)
    /// A participant who is watched is being spoken into, or no more.
    case talkerSpokenInto(participant: UInt32, BargeInChange)
    /// How far an utterance of somebody in the room was heard.
    case utteranceHeard(HeardNews)
    /// Blocks are pulled so much before the playback thread comes for them from now on.
    case playoutMarginChanged(nanoseconds: Int64)
    /// So many events found no room.
    case eventsLost(Int)
}

extension MediaEvent {
    /// Whether the room is to be told something of it: see ``RoomMedia/take(_:)``.
    var isForRoom: Bool {
        switch self {
        case .generationStarted, .talkerSpokenInto, .utteranceHeard: true
        default: false
        }
    }

    /// Whether members of the room decide how many of it there are.
    var isForced: Bool {
        if case .utteranceHeard = self { true } else { false }
    }
}

/// The media thread's end of the event ring, with the signal that wakes whoever forwards the events.
struct MediaEventOutlet: ~Copyable {
    /// Places of the ring that are kept for what is told of this engine: members could fill the rest.
    static let reserve = 64

    private var producer: ValueProducer<MediaEvent>
    private let wake: WakeHandle?
    /// Events that found no room, and that this was not told of yet.
    private var lost = 0

    init(_ producer: consuming ValueProducer<MediaEvent>, wake: WakeHandle?) {
        self.producer = producer
        self.wake = wake
    }

    /// Hands over `event`; where there is no room it is dropped, of which the next event that finds some is told.
    mutating func tell(_ event: MediaEvent) {
        if producer.room < (event.isForced ? Self.reserve : 2) {
            lost += 1
        } else {
            if lost > 0 {
                producer.push(.eventsLost(lost))
                lost = 0
            }
            producer.push(event)
        }
        wake?.signal()
    }
}
