internal import VoiceProcessing
internal import VoiceSignal

/// How talkers are brought to like loudness where they are played: whoever is too soft is made louder, and whoever is
/// too loud softer, slowly and within bounds.
public struct TalkerLevelling: Equatable, Sendable, BitwiseCopyable {
    /// The loudness to which they are brought, LUFS (ITU-R BS.1770-4), -40 to -12.
    public var target: Float
    /// By how much a talker is made louder or softer at most, 0 to 12 dB.
    public var range: Float

    /// The bounds of ``target`` and ``range``.
    static let (targets, ranges): (ClosedRange<Float>, ClosedRange<Float>) = (-40 ... -12, 0...12)

    /// -23 LUFS (EBU R 128), by 9 dB at most, unless given otherwise.
    public init(target: Float = -23, range: Float = 9) {
        self.target = target
        self.range = range
    }

    func validate() throws(EngineError) {
        guard Self.targets.contains(target) else {
            throw .invalidConfiguration("the loudness of talkers is \(target) LUFS; use -40 to -12")
        }
        guard Self.ranges.contains(range) else {
            throw .invalidConfiguration("the range of talkers' levels is \(range) dB; use 0 to 12")
        }
    }
}

/// One talker's gain towards the loudness that is wanted.
///
///     sound ─┬─► K-weighting, 400 ms ─► gates ─► mean over 10 s of speech ─► gain, at most 1.5 dB/s ─┐
///            └───────────────────────────────────────────────────────────────────────────────────► × ─► volume
///
/// Loudness counts where the talker speaks alone: above an absolute gate, and no more than 10 LU below the mean
/// (BS.1770-4, section 5.6). The gain moves only then, so that pauses are not pumped up, and not at all within half a
/// decibel. Nothing is allocated after `init`.
struct TalkerLeveller: ~Copyable {
    /// What is softer is no speech, LUFS.
    private static let absoluteGate: Float = -50
    /// What is softer than the mean by so much is none either, LU.
    private static let relativeGate: Float = 10
    /// Looks at the loudness, one each 100 ms: before the first gain, and in the mean.
    private static let (fewest, most): (Float, Float) = (10, 100)
    /// How fast the gain moves, dB for each look: 1.5 dB/s.
    private static let step: Float = 0.15
    /// Nearer to what is wanted than this, dB, it stays.
    private static let tolerance: Float = 0.5
    /// 10 ms at 48 kHz, and how many of them lie between two looks.
    private static let (blockFrames, blocksPerLook) = (480, 10)

    private var meter = LoudnessMeter(sampleRate: 48_000)
    private var block = InlineArray<480, Float>(repeating: 0)
    private var filled = 0
    private var blocks = 0
    private var looks: Float = 0
    private var mean: Float = 0
    /// The gain, dB.
    private(set) var decibels: Float = 0
    private var ramp = GainRamp(1)

    init() {}

    /// Forgets the talker.
    mutating func reset() {
        meter.reset()
        (filled, blocks, looks, mean, decibels) = (0, 0, 0, 0, 0)
        ramp = GainRamp(1)
    }

    /// Levels the next frames by `levelling`; nil: goes back to what they are.
    mutating func apply(_ levelling: TalkerLevelling?, to frames: inout MutableSpan<Float>) {
        if let levelling {
            for index in frames.indices {
                block[filled] = frames[index]
                filled += 1
                if filled == Self.blockFrames { measure(levelling) }
            }
        } else if decibels != 0 {
            decibels = 0
            ramp.move(to: 1, over: Self.blockFrames)
        }
        ramp.apply(to: &frames)
    }

    private mutating func measure(_ levelling: TalkerLevelling) {
        filled = 0
        meter.take(block.span)
        blocks += 1
        guard blocks == Self.blocksPerLook else { return }
        blocks = 0
        let loudness = meter.momentary
        guard loudness > Self.absoluteGate, looks == 0 || loudness > mean - Self.relativeGate else { return }
        looks = min(looks + 1, Self.most)
        mean += (loudness - mean) / looks
        guard looks >= Self.fewest else { return }
        let wanted = min(max(levelling.target - mean, -levelling.range), levelling.range)
        guard abs(wanted - decibels) > Self.tolerance else { return }
        decibels += min(max(wanted - decibels, -Self.step), Self.step)
        ramp.move(to: amplitude(decibels: decibels), over: Self.blockFrames * Self.blocksPerLook)
    }
}

extension VoiceEngine {
    /// Has talkers played at like loudness, within bounds, each by what it is heard to be; nil, as it is without this
    /// call: as they come. On top of it the volumes that are set hold. It takes a second of a talker's speech to begin
    /// and changes by 1.5 dB a second at most. May be called before `start()`, and outlives it.
    ///
    /// - Throws: ``EngineError/invalidConfiguration(_:)``, ``EngineError/overloaded``.
    public func setTalkerLevelling(_ levelling: TalkerLevelling?) throws(EngineError) {
        try levelling?.validate()
        try core?.send(.levelTalkers(levelling))
        talkerLevelling = levelling
    }
}
