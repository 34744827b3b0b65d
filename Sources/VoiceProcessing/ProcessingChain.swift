import VoiceSignal

/// Processing without timestamps: finds the echo's delay in the signals, re-times the reference by it, processes.
///
///     reference ──┬─> history ──> re-timed by (delay − lead) ──┐
///                 └─> EchoDelayEstimator <──┐                  v
///     microphone ─────────────────────────┴───────────> CaptureProcessor ──> output
///
/// A processor that finds the echo by itself gets both signals as they are, and the expected delay as a hint.
///
/// For files and for clients that own their devices and know no times; with times, ``ReferenceAligner`` does this part.
/// The two inputs may be up to 0.6 s apart, reference first, and the distance may jump. Nothing is allocated per block.
public struct ProcessingChain: ~Copyable {
    /// How the reference is re-timed.
    public struct Configuration: BitwiseCopyable, Equatable, Sendable {
        /// What the canceller is left to see of the delay, in seconds, 0...1: room for an early reflection of the
        /// estimate's error.
        public var lead: Double
        /// The reference is re-timed when the delay is found to be off by more than this, in seconds, 0...1.
        public var tolerance: Double
        /// The delay to go by until one is found, in seconds, 0 or more: what the devices' buffers add up to. Nil: none is
        /// known. Once one is found and has held, only that counts.
        public var expectedDelay: Double?
        /// Seconds of far-end speech without a trace of it in the microphone after which there is taken to be no echo
        /// path, at first and once there was one. The canceller then gets silence as its reference, so that it leaves
        /// the near end alone, as with a headset. A trace brings the reference back at once.
        public var patience: Patience

        /// Seconds; see ``Configuration/patience``.
        public struct Patience: BitwiseCopyable, Equatable, Sendable {
            /// Before an echo was ever found.
            public var beforeFound: Double
            /// After one was found.
            public var afterFound: Double

            /// A patience, in seconds of far-end speech.
            public init(beforeFound: Double, afterFound: Double) {
                self.beforeFound = beforeFound
                self.afterFound = afterFound
            }
        }

        /// A configuration.
        public init(
            lead: Double = 0.010, tolerance: Double = 0.004, expectedDelay: Double? = nil,
            patience: Patience = Patience(beforeFound: 1.0, afterFound: 5.0)
        ) {
            self.lead = lead
            self.tolerance = tolerance
            self.expectedDelay = expectedDelay
            self.patience = patience
        }

        /// This, if every number is in its range; NaN is in none.
        func validated() throws(ProcessingError) -> Configuration {
            guard (0...1).contains(lead) else { throw .invalidSetting(.lead) }
            guard (0...1).contains(tolerance) else { throw .invalidSetting(.tolerance) }
            guard expectedDelay.map({ $0 >= 0 }) ?? true else { throw .invalidSetting(.expectedDelay) }
            guard patience.beforeFound >= 0, patience.afterFound >= 0 else { throw .invalidSetting(.patience) }
            return self
        }
    }

    /// What a block told.
    public struct Report: BitwiseCopyable, Sendable {
        /// The processor's report.
        public var processing: ProcessingReport
        /// The delay that is believed, nil as long as none was found.
        public var echoDelay: EchoDelayEstimator.Estimate?
        /// How often the reference was re-timed so far, the first time included; nil where the processor finds the echo
        /// by itself.
        public var retimings: Int?
        /// Whether the canceller gets the reference: there is an echo, or it is too early to say.
        public var echoPathAssumed: Bool
    }

    /// The processor at the end; its settings may be changed between blocks.
    public let processor: CaptureProcessor
    private var estimator: EchoDelayEstimator
    private var history: ReferenceHistory
    private var aligned: RealVector
    private let lead: Int
    private let tolerance: Int
    private let patience: Configuration.Patience
    private let expectedDelay: Int
    private let isDelayExpected: Bool
    /// The processor does all that is done here by itself.
    private let findsEcho: Bool
    private var offset: Int
    private var retimings = 0

    /// Longest distance between the inputs, seconds, and what is kept of the reference for it.
    private static let historySeconds = 1.0

    /// A chain. Allocates and warms up; not real-time safe.
    ///
    /// - Throws: ``ProcessingError``.
    public init(
        sampleRate: Int, settings: ProcessingSettings, backend: ProcessingBackend = .native,
        configuration: Configuration = Configuration()
    ) throws(ProcessingError) {
        let configuration = try configuration.validated()
        let processor = try backend.makeProcessor(sampleRate: sampleRate, settings: settings)
        let estimator = try EchoDelayEstimator(sampleRate: sampleRate)
        self.processor = processor
        findsEcho = processor.traits.findsEcho
        self.estimator = estimator
        history = ReferenceHistory(capacity: Int(Double(sampleRate) * Self.historySeconds))
        aligned = RealVector(count: sampleRate / 100)
        lead = Int(Double(sampleRate) * configuration.lead)
        isDelayExpected = configuration.expectedDelay != nil
        let longest = Double(sampleRate) * (Self.historySeconds - 0.02)
        let expected = Double(sampleRate) * (configuration.expectedDelay ?? 0)
        expectedDelay = Int(max(0, min(longest, expected)))
        offset = max(0, expectedDelay - lead)
        patience = configuration.patience
        tolerance = Int(Double(sampleRate) * configuration.tolerance)
    }

    /// Processes 10 ms of microphone in place against the 10 ms of reference that came with it. One thread at a time;
    /// allocates nothing.
    ///
    /// - Precondition: both have `sampleRate / 100` frames; with another number the program is stopped.
    public mutating func run(capture: inout MutableSpan<Float>, reference: Span<Float>) -> Report {
        if findsEcho { return runDirectly(&capture, reference) }
        history.append(reference)
        // Also while nothing is cancelled: what it knows would be of a far end from before.
        let isFound = estimator.run(capture: capture.span, reference: reference)
        if isFound, processor.activeSettings.echo != .off { retime() }
        let assumed = isEchoPathAssumed
        // What lies ahead of the history's end is silence.
        let first = assumed ? history.end - Int64(reference.count + offset) : history.end
        history.read(from: first, count: aligned.count, into: &aligned)
        let delay = believedDelay - offset
        let report = processor.run(capture: &capture, reference: aligned.span, delay: max(0, delay))
        return Report(
            processing: report, echoDelay: estimator.estimate, retimings: retimings, echoPathAssumed: assumed)
    }

    /// The processor does it all.
    private mutating func runDirectly(_ capture: inout MutableSpan<Float>, _ reference: Span<Float>) -> Report {
        let report = processor.run(capture: &capture, reference: reference, delay: expectedDelay)
        let presence = report.echoPresence ?? 0
        return Report(
            processing: report,
            echoDelay: report.echoDelay.map { EchoDelayEstimator.Estimate(delay: $0, confidence: presence) },
            retimings: nil, echoPathAssumed: presence > 0.5)
    }

    /// The delay that the reference is re-timed by.
    private var believedDelay: Int {
        guard let found = estimator.estimate, estimator.isProven || !isDelayExpected else { return expectedDelay }
        return found.delay
    }

    private var isEchoPathAssumed: Bool {
        let patience = estimator.isProven ? self.patience.afterFound : self.patience.beforeFound
        return Double(estimator.unconfirmedFarEndBlocks) < patience * 100
    }

    private mutating func retime() {
        // A guess is better than nothing, but not better than what the devices say.
        guard let found = estimator.estimate, estimator.isProven || !isDelayExpected else { return }
        let wanted = max(0, found.delay - lead)
        // Judged by what the canceller sees of the delay: what is wanted may be nearer than the reference can be.
        let isOff = wanted != offset && abs(found.delay - offset - lead) > tolerance
        guard retimings == 0 || isOff else { return }
        if wanted != offset || retimings == 0 { retimings += 1 }
        offset = wanted
    }
}
