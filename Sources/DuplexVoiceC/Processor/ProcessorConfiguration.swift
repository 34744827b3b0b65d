internal import CDuplexVoice
internal import VoiceProcessing

/// A `dv_processor_config` whose every number is in its range.
struct ProcessorConfiguration {
    let plan: RatePlan
    let captureChannels: Int
    let referenceChannels: Int
    /// Calls bring a multiple of so many frames; 0 where they bring any number.
    let blockFrames: Int
    let backend: ProcessingBackend
    /// Seconds.
    let expectedDelay: Double?

    private static let mostChannels = 32
    /// As far as the search reaches, milliseconds.
    private static let longestDelay: Float = 600

    init(_ given: dv_processor_config) throws(Failure) {
        guard let plan = RatePlan(Int(given.sample_rate)) else {
            let rates = RatePlan.all.map { "\($0.outer)" }.joined(separator: ", ")
            throw .argument("config.sample_rate is \(given.sample_rate); convert to one of \(rates)")
        }
        self.plan = plan
        captureChannels = try Self.channels(given.capture_channels, "capture_channels")
        referenceChannels = try Self.channels(given.reference_channels, "reference_channels")
        guard given.block_frames <= SoundCall.mostFrames else {
            throw .argument("config.block_frames is \(given.block_frames); take 0 to \(SoundCall.mostFrames)")
        }
        blockFrames = Int(given.block_frames)
        backend = try ProcessingBackend(number: given.backend)
        guard given.expected_delay_ms >= 0, given.expected_delay_ms <= Self.longestDelay else {
            throw .argument("config.expected_delay_ms is \(given.expected_delay_ms); take 0 to 600")
        }
        expectedDelay = given.expected_delay_ms == 0 ? nil : Double(given.expected_delay_ms) / 1_000
    }

    private static func channels(_ given: UInt32, _ field: String) throws(Failure) -> Int {
        guard given <= mostChannels else { throw .argument("config.\(field) is \(given); take 1 to \(mostChannels)") }
        return max(1, Int(given))
    }
}

extension Failure {
    init(_ error: ProcessingError) {
        switch error {
        case .unsupportedSampleRate(let rate):
            self.init(DV_INTERNAL, "the backend does not take \(rate) Hz; this is worth a report")
        case .invalidSetting(let field):
            self.init(DV_INVALID_ARGUMENT, "settings: \(Self.range(of: field))")
        case .outOfMemory:
            self.init(DV_OUT_OF_MEMORY, "the backend has no memory; free some and try again")
        case .libraryRefused(let code):
            self.init(DV_INTERNAL, "the backend's library refused with \(code); take another backend, and report this")
        }
    }

    private static func range(of field: ProcessingError.Field) -> String {
        switch field {
        case .targetLevel: "target_level is out of range; take -40 to -10 dBFS, or 0 for -20"
        case .maximumGain: "maximum_gain is out of range; take 1 to 40 dB, or 0 for 32"
        case .fixedGain: "fixed_gain is out of range; take -40 to 40 dB"
        case .speechDetector: "voice_detection is out of range"
        case .lead, .tolerance, .expectedDelay, .patience: "expected_delay_ms is out of range"
        }
    }
}
