public import VoiceCoding

/// How far the encoder may follow what listeners report; fixed when the engine starts.
public struct SenderAdaptationPolicy: Equatable, Sendable, BitwiseCopyable {
    /// Whether it follows at all; if not, the encoder's settings stay as configured.
    public var isEnabled: Bool
    /// What the bit rate never falls below, bits per second. 16 000 is the least at which Opus keeps wide-band speech
    /// (RFC 6716, section 2.1.1).
    public var minimumBitratePerSecond: Int
    /// The longest packets that a narrow path may bring about.
    public var maximumFrameDuration: OpusFrameDuration
    /// How far back one may repeat earlier packets (RFC 2198), 0...4; each copy costs as much as the packet itself. The
    /// one just before it is left to in-band FEC where that is allowed.
    public var maximumCopies: Int

    /// A policy; what is not given is as in ``adaptive``.
    public init(
        isEnabled: Bool = true, minimumBitratePerSecond: Int = 16_000,
        maximumFrameDuration: OpusFrameDuration = .milliseconds60, maximumCopies: Int = 3
    ) {
        self.isEnabled = isEnabled
        self.minimumBitratePerSecond = minimumBitratePerSecond
        self.maximumFrameDuration = maximumFrameDuration
        self.maximumCopies = maximumCopies
    }

    func validate() throws(EngineError) {
        guard (0...LossEvidence.maximumCopies).contains(maximumCopies) else {
            throw .invalidConfiguration(
                "adaptation.maximumCopies is \(maximumCopies); use 0...\(LossEvidence.maximumCopies)")
        }
        guard OpusEncoderSettings.bitratesPerSecond.contains(minimumBitratePerSecond) else {
            throw .invalidConfiguration(
                "adaptation.minimumBitratePerSecond is \(minimumBitratePerSecond); use "
                    + "\(OpusEncoderSettings.bitratesPerSecond)")
        }
    }

    /// Follows the reports: protection where loss makes it pay, less bandwidth where the path has no more.
    public static let adaptive = SenderAdaptationPolicy()

    /// Sends as configured, whatever is reported.
    public static let fixed = SenderAdaptationPolicy(isEnabled: false)
}

/// How to send from the next packet on.
struct SenderPlan: Equatable, BitwiseCopyable, Sendable {
    /// For the encoder.
    var settings: OpusEncoderSettings
    /// How far back each repeats earlier packets.
    var copies = 0
}
