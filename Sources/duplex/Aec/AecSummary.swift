import VoiceProcessing

/// What was done, in the words of `--json`.
struct AecSummary: JSONLine {
    let schema = "duplexvoice.aec/1"
    let type = "summary"
    var backend: String
    var library: String
    var sampleRate: Int
    var frames: Int
    /// How long the far end was heard.
    var farHeardS: Double
    /// Energy that went while the far end was heard; a near talker who speaks meanwhile lowers it.
    var erleDb: Double?
    /// How long the far end was heard alone, and the energy that went meanwhile.
    var farAloneS: Double
    var farAloneErleDb: Double?
    /// From playing to recording.
    var delayMs: Double?
    /// From the reference to its echo's strongest arrival by the recordings alone, negative where the echo precedes the
    /// reference and cannot be cancelled; nil where none stands out within 600 ms to either side.
    var echoLagMs: Double?
    /// How often the reference broke off amid sound; nil where the backend does not look.
    var referenceGaps: Int?
    /// How often the echo's gain changed while its path stayed the same, and by how much the last time; how often the
    /// echo was found elsewhere once its path was known. Nil where the backend does not look, or where there was none.
    var gainChanges: Int?
    var lastGainChangeDb: Double?
    var delayShifts: Int?
    /// How often the reference was moved to where the echo was found, the path was taken for another one, the estimate
    /// was no part of the microphone any more, and the quick filter was taken over; seconds for which everything was
    /// turned down, as nothing was known of the echo. Nil where the backend does not tell.
    var delayChoices: Int?
    var newPaths: Int?
    var lostPaths: Int?
    var shadowTakeovers: Int?
    var cautionS: Double?
    /// How the delay changes over time, jumps aside; nil where it was known too briefly.
    var driftPpm: Double?
    /// The reference's level over its linear echo's.
    var echoReturnLossDb: Double?
    /// From the echo's strongest arrival until 99 % of its energy has come.
    var echoTailMs: Double?
    /// Share of the microphone's energy that is linear echo of the reference.
    var linearEchoRatio: Double?
    /// Shares of samples at full scale.
    var microphoneClippedRatio: Double
    var referenceClippedRatio: Double
    /// Of the near talker, where their file was given: distortion ratios before and after, and the share of speech
    /// lost.
    var nearSdrBeforeDb: Double?
    var nearSdrDb: Double?
    var nearLostRatio: Double?
    var nearLevelChangeDb: Double?
    /// When the echo was first 20 dB lower for half a second, with the far end alone where it was for a second.
    var convergenceS: Double?
    /// How much later than the microphone the output is.
    var processingDelayMs: Double
    /// How often the reference was re-timed; nil where the backend finds the echo by itself.
    var retimings: Int?
    /// How hard the residual was suppressed at the end.
    var echoSuppression: String?
    var usPerFrameP50: Double
    var usPerFrameP99: Double
    var usPerFrameMax: Double

    init(_ result: AecResult) {
        let (report, evidence, rate) = (result.last, result.evidence, result.rate)
        backend = result.backend
        library = result.library
        sampleRate = rate
        frames = result.times.count
        farHeardS = evidence.heardSeconds
        erleDb = evidence.enhancementDecibels
        farAloneS = evidence.aloneSeconds
        farAloneErleDb = evidence.aloneEnhancementDecibels
        delayMs = report?.echoDelay.map { Double($0.delay) * 1_000 / Double(rate) }
        echoLagMs = result.path?.lagMilliseconds
        let integrity = report?.processing.referenceIntegrity
        referenceGaps = integrity?.gaps
        gainChanges = integrity?.gainChanges
        lastGainChangeDb = integrity?.lastGainChange.map { Double($0).rounded(toPlaces: 1) }
        delayShifts = integrity?.shifts
        delayChoices = result.decisions?.delayChoices
        newPaths = result.decisions?.newPaths
        lostPaths = result.decisions?.lostPaths
        shadowTakeovers = result.decisions?.shadowTakeovers
        cautionS = result.decisions?.cautionSeconds
        convergenceS = evidence.convergenceSeconds
        processingDelayMs = Double(report?.processing.processingDelay ?? 0) * 1_000 / Double(rate)
        retimings = report?.retimings
        echoSuppression = report?.processing.echoSuppression.map { "\($0)" }
        driftPpm = result.trace.driftPPM
        echoReturnLossDb = result.path?.returnLossDecibels?.known
        echoTailMs = result.path?.tailMilliseconds
        linearEchoRatio = result.path?.linearShare
        microphoneClippedRatio = AecResult.clippedShare(result.microphone)
        referenceClippedRatio = AecResult.clippedShare(result.reference)
        nearSdrBeforeDb = result.talker?.distortionBefore?.known
        nearSdrDb = result.talker?.distortionAfter?.known
        nearLostRatio = result.talker?.lostShare?.known
        nearLevelChangeDb = result.talker?.levelChange?.known
        let sorted = result.times.sorted()
        usPerFrameP50 = Double(sorted[sorted.count / 2]) / 1_000
        usPerFrameMax = Double(sorted[sorted.count - 1]) / 1_000
        usPerFrameP99 = Double(sorted[min(sorted.count - 1, sorted.count * 99 / 100)]) / 1_000
    }

    var lines: [String] {
        var table = Table()
        func decimal(_ value: Double?, _ unit: String) -> String {
            value.map { "\($0.rounded(toPlaces: 1)) \(unit)" } ?? "not measured"
        }
        table.add("echo removed while the far end was heard alone", decimal(farAloneErleDb, "dB"))
        table.add("energy removed whenever the far end was heard", decimal(erleDb, "dB"))
        table.add("delay from playing to recording", decimal(delayMs, "ms"))
        table.add("time until 20 dB were removed", decimal(convergenceS, "s"))
        table.add("delay added", decimal(processingDelayMs, "ms"))
        table.add(
            "CPU per 10 ms, median / p99",
            "\(usPerFrameP50.rounded(toPlaces: 0)) / \(usPerFrameP99.rounded(toPlaces: 0)) µs")
        table.add("processed by", "\(library), \(frames) blocks at \(sampleRate) Hz")
        return table.lines
    }
}

extension Double {
    /// Nil where this is no number: nothing is known then.
    var known: Double? { isFinite ? self : nil }

    func rounded(toPlaces places: Int) -> Double {
        var scale = 1.0
        for _ in 0..<places { scale *= 10 }
        return (self * scale).rounded() / scale
    }
}
