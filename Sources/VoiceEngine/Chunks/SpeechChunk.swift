/// A piece of the near end for a recogniser that takes speech piece by piece: 16 kHz mono. Pieces follow each other
/// without a gap and without an overlap.
public struct SpeechChunk: Equatable, Sendable {
    /// Frames per second.
    public static let sampleRate = 16_000

    /// Mono, full scale ±1.
    public var samples: [Float]
    /// When the first of them was at the microphone's ADC, on the monotonic clock since its epoch.
    public var time: Duration
    /// Whether sound is missing before it: the first chunk, the gate of a conversation was closed, or the reader was
    /// too slow.
    public var isAfterGap: Bool
    /// Whether all of it lies below -50 dBFS: nobody spoke, and recognisers that make words of silence are better not
    /// asked.
    public var isSilent: Bool

    /// This piece of sound.
    public init(samples: [Float], time: Duration = .zero, isAfterGap: Bool = false, isSilent: Bool = false) {
        self.samples = samples
        self.time = time
        self.isAfterGap = isAfterGap
        self.isSilent = isSilent
    }

    /// How long it lasts.
    public var duration: Duration { .nanoseconds(Int64(samples.count) * 1_000_000_000 / Int64(Self.sampleRate)) }

    /// It as a WAV file of 16-bit samples.
    public var waveFile: [UInt8] { WaveFile.encoded(samples, rate: Self.sampleRate) }
}

/// Where the near end is cut into chunks; to 10 ms.
public enum ChunkCut: Equatable, Sendable {
    /// Each is as long as this, 0.1 s to 2 min.
    case fixed(Duration)
    /// In the first pause of 0.3 s behind `minimum`; before speech where nobody had spoken for so long; and where
    /// nobody pauses until `maximum`, at the quietest place of the second half. Both 0.1 s to 2 min, and `minimum` the
    /// shorter.
    case atSilence(minimum: Duration, maximum: Duration)

    /// The lengths that are possible.
    public static let lengths: ClosedRange<Duration> = .milliseconds(100) ... .seconds(120)

    func validate() throws(EngineError) {
        switch self {
        case .fixed(let length):
            guard Self.lengths.contains(length) else {
                throw .invalidConfiguration("a chunk of \(length); use 0.1 s to 120 s")
            }
        case .atSilence(let minimum, let maximum):
            guard Self.lengths.contains(minimum), Self.lengths.contains(maximum), minimum < maximum else {
                throw .invalidConfiguration(
                    "chunks of \(minimum) to \(maximum); use 0.1 s to 120 s, and a minimum below the maximum")
            }
        }
    }

    /// The longest chunk.
    var longest: Duration {
        switch self {
        case .fixed(let length): length
        case .atSilence(_, let maximum): maximum
        }
    }
}
