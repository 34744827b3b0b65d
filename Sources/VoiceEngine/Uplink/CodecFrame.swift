internal import VoiceRealtime
internal import VoiceWire

/// The sound that the next packet will have, gathered block by block, and what the packet says of it.
struct CodecFrame: ~Copyable {
    /// Up to the longest frame that Opus is asked for, 60 ms.
    private var samples = InlineArray<2_880, Float>(repeating: 0)
    /// Frames gathered.
    private(set) var count = 0
    /// When the first of them was at the ADC.
    private(set) var time = MonotonicTime(nanoseconds: 0)
    /// The loudest of its blocks, dBFS.
    private(set) var level: Float = -127
    private(set) var hasVoice = false
    /// Whether any of it is not muted: the fade into silence is sent too.
    private(set) var isAudible = false
    /// Whether any of it is to be sent, were it not muted.
    private(set) var isSent = false
    /// Whether none of it is shut out.
    private(set) var isWhole = true

    /// Begins with what was at the ADC then.
    mutating func begin(at adcTime: MonotonicTime) { time = adcTime }

    /// Appends a block.
    mutating func append(_ block: Span<Float>, _ moment: BlockMoment) {
        if moment.isSent {
            isSent = true
            isAudible = isAudible || moment.isAudible
            level = max(level, moment.level)
            hasVoice = hasVoice || moment.hasVoice
        } else {
            isWhole = false
        }
        for index in block.indices { samples[count + index] = block[index] }
        count += block.count
    }

    /// Appends silence, of which there is nothing to say.
    mutating func appendSilence(_ frames: Int) {
        for index in count..<count + frames { samples[index] = 0 }
        count += frames
    }

    /// A part of it.
    @_lifetime(borrow self)
    func sound(_ frames: Range<Int>) -> Span<Float> { samples.span.extracting(frames) }

    /// What RFC 6464 says of it.
    var audioLevel: AudioLevel {
        AudioLevel(voiceActivity: hasVoice, level: UInt8(min(max(-level, 0), 127)))
    }

    mutating func clear() {
        count = 0
        level = -127
        hasVoice = false
        isAudible = false
        isSent = false
        isWhole = true
    }
}
