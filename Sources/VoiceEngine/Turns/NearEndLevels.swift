internal import VoiceProcessing
internal import VoiceTurns

/// What the levels of a block tell of where its sound comes from: by how much what the canceller left lies below the
/// echo.
///
///     microphone ──┬─► how loud the echo is, held ─┐
///                  ▼                               ├─► `SpeechEvidence.SoundLevels.cancelled`
///     canceller ───┴─► what is left ──┬────────────┘
///                                     ├─► its loudest of late ─► `SpeechEvidence.SoundLevels.overResidual`
///                                     └─► that of each octave ─► `SpeechEvidence.SoundLevels.octaveOverResidual`
///     its filter ────► what it leaves in each octave, and the echo that it takes away there, loudest of late
///                                     └────────────────────────► `SpeechEvidence.SoundLevels.octaveOverError`
///
/// The echo's level is held over its quieter sounds, at the speed at which loudness changes while the far end goes on,
/// and falls as fast as a room fades once the far end pauses or is ducked. Two things that a canceller leaves are told
/// from a talker by it, where one block's levels tell nothing: the distortion of a loudspeaker, which is as loud as
/// some of its sounds but far below the others; and reverberation longer than the filter, when the echo itself has
/// nearly faded.
struct NearEndLevels: BitwiseCopyable {
    /// Of a block of which the canceller takes more, dB, most was echo.
    private static let mostlyEcho: Float = 9
    /// How fast the held level falls, dB in a block of 10 ms: while the far end goes on, and while it pauses (a
    /// reverberation time of 1 s).
    private static let fall = (sounding: Float(0.05), pausing: Float(0.6))
    /// How fast the far end's own held level falls, dB in a block; and how far below it the far end pauses, dB: ducking
    /// is 12 by default.
    private static let farEnd = (fall: Float(0.1), pause: Float(10))
    /// An octave that stands out of its noise by less, dB, is no more than that.
    private static let overNoise: Float = 3
    /// What the filter leaves in an octave is no error of its own where it lies so far above the echo that the filter
    /// takes away there, dB: with a path that has changed it is 3, with one that is unknown 0.
    private static let overEcho: Float = 10
    /// By how much the loudest blocks of a noise lie above the rest, octave by octave, dB: the wider an octave the less.
    private static let noiseSwing = SIMD8<Float>(3, 2, 1, 0, 0, 0, 0, 0)
    private static let silence: Float = -127

    /// Whether an echo is cancelled.
    private var cancelsEcho = true
    private var echo = NearEndLevels.silence
    private var reference = NearEndLevels.silence
    private var residual = RecentResidual()
    private var octaves = InlineArray<5, RecentResidual>(repeating: RecentResidual())
    private var errors = InlineArray<5, RecentResidual> { RecentResidual(height: 3 + noiseSwing[$0]) }

    /// Takes a block's report; nil where the near end's stages do not measure what is needed. `cancelsEcho` says whether
    /// a canceller was at work: what it leaves is another thing than an echo that nobody cancels.
    mutating func take(_ report: ProcessingReport, cancelsEcho: Bool) -> SpeechEvidence.SoundLevels? {
        if cancelsEcho != self.cancelsEcho {
            self = NearEndLevels()
            self.cancelsEcho = cancelsEcho
        }
        let far = report.referenceLevel ?? Self.silence
        reference = max(far, reference - Self.farEnd.fall, Self.silence)
        let isSounding = far > reference - Self.farEnd.pause
        echo -= isSounding ? Self.fall.sounding : Self.fall.pausing
        guard let left = report.cancelledLevel, let noise = report.noiseLevel else { return nil }
        if report.inputLevel - left > Self.mostlyEcho { echo = max(echo, report.inputLevel) }
        echo = max(echo, Self.silence)
        return SpeechEvidence.SoundLevels(
            left: left, overNoise: left - noise, cancelled: max(report.inputLevel, echo) - left,
            overResidual: residual.rise(of: left, isSounding: isSounding),
            octaveOverResidual: rise(of: report.cancelledOctaves, isSounding: isSounding),
            octaveOverError: rise(of: report.echoDecisions, isSounding: isSounding),
            nearShare: report.echoDecisions?.near ?? 0, farEndAlone: report.echoDecisions?.farOnly ?? 0)
    }

    /// The same of what the filter left, over what a noise moves by; 0 where none stands out of the echo.
    private mutating func rise(of decisions: EchoDecisions?, isSounding: Bool) -> Float {
        guard let (left, echo) = decisions?.octaves else { return 0 }
        var most: Float = 0
        for octave in errors.indices {
            let rise = errors[octave].rise(of: left[octave], isSounding: isSounding) - Self.noiseSwing[octave]
            if left[octave] - echo[octave] > Self.overEcho { most = max(most, rise) }
        }
        return most
    }

    /// By how much the octave does that stands out most, dB; 0 where none stands out of the noise.
    private mutating func rise(of levels: OctaveLevels?, isSounding: Bool) -> Float {
        guard let levels else { return 0 }
        var most: Float = 0
        for octave in octaves.indices {
            let rise = octaves[octave].rise(of: levels.level[octave], isSounding: isSounding)
            if levels.level[octave] - levels.noise[octave] > Self.overNoise { most = max(most, rise) }
        }
        return most
    }
}

/// The loudest that a canceller has left of late while the far end went on.
private struct RecentResidual: BitwiseCopyable {
    /// What stands out of it by more than ``height`` is not taken for a part of it for so many blocks: as long as the
    /// longest hiss that begins a word.
    private static let onset = 15
    /// How fast it is forgotten while the far end goes on, dB in a block.
    private static let fall: Float = 0.1
    private static let silence: Float = -127

    /// dB.
    private let height: Float
    private var level = RecentResidual.silence
    private var standing = 0

    init(height: Float = 6) { self.height = height }

    /// By how much a block of this level stands out, dB.
    mutating func rise(of left: Float, isSounding: Bool) -> Float {
        let rise = left - level
        standing = rise > height ? standing + 1 : 0
        if isSounding { level = max(level - Self.fall, Self.silence) }
        if standing == 0 || standing > Self.onset { level = max(level, left) }
        return rise
    }
}
