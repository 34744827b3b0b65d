internal import VoiceRealtime
internal import VoiceWire

/// What the packets of our stream say of their origin: the generation, and where in which utterance.
///
/// An interruption begins a generation. What was captured before it is not sent any more, nor what is left of the
/// utterance that was being said: that ends only when the client names another, or says that there is none. Times are
/// those of the ADC, since what is sent may have waited.
struct OutgoingSpeech: BitwiseCopyable {
    private(set) var generation: UInt32
    private var utterance: UInt32?
    /// The RTP timestamp at which the utterance begins, or its part in this stream; nil before its first packet.
    private var start: UInt32?
    /// What the client has named last, and from when on; nil where that is reached.
    private var next: (utterance: UInt32?, from: MonotonicTime)?
    /// What was captured until then is of an older generation.
    private var interruption: MonotonicTime?
    private var isRest = false
    /// Whether no packet of the generation was sent so far, which the listeners are to be told of.
    private var isNew = false

    init(generation: UInt32 = 0) { self.generation = generation }

    /// Whether what was captured up to where ``reach(_:)`` was told is not to be sent.
    var isCut: Bool { isRest || interruption != nil }

    /// Another stream begins, which has reached this generation. What is being said goes on in it, and counts anew.
    mutating func beginStream(generation: UInt32) {
        self.generation = generation
        start = nil
        isNew = false
    }

    /// Begins a generation at a time, or with what comes next, if it is newer (RFC 1982 order); whether it is.
    mutating func begin(generation: UInt32, at time: MonotonicTime?) -> Bool {
        guard Int32(bitPattern: generation &- self.generation) > 0 else { return false }
        self.generation = generation
        isRest = isRest || utterance != nil || next?.utterance != nil
        (utterance, start, next) = (nil, nil, nil)
        interruption = time
        isNew = true
        return true
    }

    /// What is captured from a time on is of this utterance; nil: of none.
    mutating func begin(utterance: UInt32?, at time: MonotonicTime) { next = (utterance, time) }

    /// What comes next was captured up to a time. Whether an utterance begins with it.
    mutating func reach(_ end: MonotonicTime) -> Bool {
        if let time = interruption, end > time { interruption = nil }
        guard let (utterance, from) = next, end > from else { return false }
        (self.utterance, start, next) = (utterance, nil, nil)
        isRest = false
        return utterance != nil
    }

    /// The origin of the packet of this timestamp.
    mutating func origin(of timestamp: UInt32) -> SpeechOrigin {
        let said = UInt8(truncatingIfNeeded: generation)
        guard let utterance else { return SpeechOrigin(generation: said) }
        let start = self.start ?? timestamp
        self.start = start
        return SpeechOrigin(
            generation: said, place: SpeechOrigin.Place(utterance: utterance, position: timestamp &- start))
    }

    /// Whether the packet that was just sent is the first of its generation.
    mutating func takeStart() -> Bool {
        defer { isNew = false }
        return isNew
    }
}
