import VoiceProcessing

/// A recording before and after the processing, and all that was measured on it.
struct AecResult {
    let item: AecManifest.Item
    let backend: String
    let library: String
    /// What was done, as opposed to what was asked for.
    let settings: ProcessingSettings
    let rate: Int
    let microphone: [Float]
    /// As long as the microphone.
    let reference: [Float]
    let near: [Float]?
    let output: [Float]
    let trace: AecTrace
    /// The report of the last block.
    let last: ProcessingChain.Report?
    /// CPU time of each block, nanoseconds.
    let times: [Int64]

    /// For each block, whether the near end talks.
    let nearTalks: [Bool]
    let evidence: EchoEvidence
    /// Nil where the backend tells none.
    let decisions: AecDecisions?
    let path: EchoPath?
    let talker: NearEvidence?

    /// What counts as full scale: a 16-bit converter's last steps.
    private static let fullScale: Float = 0.9995

    init(
        item: AecManifest.Item, backend: String, library: String, settings: ProcessingSettings, rate: Int,
        microphone: [Float], reference: [Float], near: [Float]?, output: [Float], trace: AecTrace,
        last: ProcessingChain.Report?, times: [Int64]
    ) {
        self.item = item
        self.backend = backend
        self.library = library
        self.settings = settings
        self.rate = rate
        self.microphone = microphone
        self.reference = reference
        self.near = near
        self.output = output
        self.trace = trace
        self.last = last
        self.times = times
        decisions = AecDecisions(trace.blocks)
        let lag = last?.processing.processingDelay ?? 0
        let path = EchoPath(reference: reference, microphone: microphone, rate: rate)
        self.path = path
        nearTalks =
            near.map { NearActivity.blocks(near: $0, rate: rate, count: trace.blocks.count) }
            ?? NearActivity.blocks(
                isSpeaking: trace.blocks.map(\.isSpeaking), microphone: microphone, echo: path?.echo(of: reference),
                rate: rate)
        evidence = EchoEvidence(
            microphone: microphone, reference: reference, output: output, rate: rate,
            delay: last?.echoDelay?.delay ?? 0, lag: lag, nearTalks: nearTalks)
        talker = near.map {
            NearEvidence(near: $0, microphone: microphone, output: output, rate: rate, lag: lag)
        }
    }

    var summary: AecSummary { AecSummary(self) }

    /// For a person at a terminal: the verdict and the numbers.
    var lines: [String] { AecVerdict(summary).lines + [""] + summary.lines }

    /// Share of the samples that lie at full scale.
    static func clippedShare(_ samples: [Float]) -> Double {
        Double(samples.count { abs($0) >= fullScale }) / Double(max(1, samples.count))
    }
}
