import Glibc
import VoiceProcessing

/// What the processing told of each block of 10 ms.
struct AecTrace {
    /// One block's values; unknown is NaN, which a plot leaves out.
    struct Block {
        var inputLevel: Double
        var outputLevel: Double
        var referenceLevel: Double
        var delayMilliseconds: Double
        var echoReturnLoss: Double
        var enhancement: Double
        var residualEcho: Double
        var speechProbability: Double
        var isSpeaking: Bool
        var noiseSuppression: Double
        var gain: Double
        var loudness: Double
        var isEchoPathAssumed: Bool
        /// Nil where the backend tells none.
        var decisions: EchoDecisions?
    }

    /// Who talks in a block.
    struct Talk: Equatable {
        var isNear: Bool
        var isFar: Bool
    }

    /// The far end is heard where its reference is above this and within 30 dB of its loudest, dBFS.
    private static let farFloor = -60.0
    private static let farRange = 30.0
    private static let blocksPerSecond = 100.0

    private(set) var blocks: [Block] = []
    private let rate: Int

    init(rate: Int, blocks count: Int) {
        self.rate = rate
        blocks.reserveCapacity(count)
    }

    mutating func note(_ report: ProcessingChain.Report, reference: ArraySlice<Float>) {
        let processing = report.processing
        let energy = reference.reduce(0.0) { $0 + Double($1) * Double($1) }
        let level = 10 * log10(max(energy / Double(max(1, reference.count)), 1e-12))
        func value(_ known: Float?) -> Double { known.map(Double.init) ?? .nan }
        blocks.append(
            Block(
                inputLevel: Double(processing.inputLevel), outputLevel: Double(processing.outputLevel),
                referenceLevel: level,
                delayMilliseconds: report.echoDelay.map { Double($0.delay) * 1_000 / Double(rate) } ?? .nan,
                echoReturnLoss: value(processing.echoReturnLoss),
                enhancement: value(processing.echoReturnLossEnhancement),
                residualEcho: value(processing.residualEchoLikelihood),
                speechProbability: value(processing.speechProbability),
                isSpeaking: processing.voiceActivity == true, noiseSuppression: value(processing.noiseSuppression),
                gain: value(processing.gain), loudness: value(processing.momentaryLoudness),
                isEchoPathAssumed: report.echoPathAssumed, decisions: processing.echoDecisions))
    }

    /// All of it as CSV: one row per block, empty where unknown.
    var csv: String {
        let heading =
            "time_s,microphone_dbfs,output_dbfs,reference_dbfs,delay_ms,echo_return_loss_db,erle_db,residual_echo_likelihood,"
            + "speech_probability,speaking,noise_suppression_db,gain_db,loudness_lufs,"
            + "unexplained,far_alone,quick_filter_share,doubt,caution,decision"
        let rows = blocks.enumerated().map { index, block in
            let values = [
                Double(index) / Self.blocksPerSecond, block.inputLevel, block.outputLevel, block.referenceLevel,
                block.delayMilliseconds, block.echoReturnLoss, block.enhancement, block.residualEcho,
                block.speechProbability, block.isSpeaking ? 1 : 0, block.noiseSuppression, block.gain, block.loudness,
            ]
            let known = block.decisions
            let evidence = [known?.unexplained, known?.farOnly, known?.motion, known?.doubt]
            let caution = known.map { $0.caution == .none ? "" : $0.caution.rawValue } ?? ""
            let decision = known.flatMap(AecDecisions.text).map { String($0.map { $0 == "," ? ";" : $0 }) } ?? ""
            return (values + evidence.map { $0.map(Double.init) ?? .nan })
                .map { $0.isFinite ? $0.fixed(3) : "" }.joined(separator: ",") + ",\(caution),\(decision)"
        }
        return ([heading] + rows).joined(separator: "\n") + "\n"
    }

    /// A value over time, thinned out to what a plot shows: seconds and means.
    func line(_ value: (Block) -> Double) -> [(x: Double, y: Double)] {
        let step = max(1, blocks.count / 1_000)
        return stride(from: 0, to: blocks.count, by: step).map { start in
            let known = blocks[start..<min(blocks.count, start + step)].map(value).filter(\.isFinite)
            let mean = known.isEmpty ? .nan : known.reduce(0, +) / Double(known.count)
            return (Double(start) / Self.blocksPerSecond, mean)
        }
    }

    /// Who talks in each block: the far end by its reference, which arrives `delay` ms later, the near end where it is
    /// said to.
    func talk(delay: Double, nearTalks: [Bool]) -> [Talk] {
        let shift = delay.isFinite ? Int((delay / 10).rounded()) : 0
        let loudest = blocks.map(\.referenceLevel).max() ?? -127
        let threshold = max(Self.farFloor, loudest - Self.farRange)
        return blocks.indices.map { index in
            let isFar = index >= shift && blocks[index - shift].referenceLevel > threshold
            return Talk(isNear: nearTalks[index], isFar: isFar)
        }
    }

    /// See ``driftPPM(of:)``.
    var driftPPM: Double? { Self.driftPPM(of: blocks.map(\.delayMilliseconds)) }

    /// A step of the delay between two blocks in which it was known that is a jump and no drift, ms.
    private static let jump = 1.0
    /// Blocks in which the delay must be known without a jump: 5 s.
    private static let leastKnown = 500
    /// Between the two ends of a slope, ms: a delay is known in steps of about 0.1 ms.
    private static let leastSpan = 2_000.0

    /// Change per time, ppm, of `delays`, the delay in ms for each block, NaN where unknown: the median of its slopes
    /// (H. Theil, P. K. Sen, 1968) between points without a jump between them, each stretch's first tenth left out
    /// while the delay settles. Nil where no stretch without a jump is 5 s long.
    static func driftPPM(of delays: [Double]) -> Double? {
        var stretches: [[(time: Double, delay: Double)]] = []
        for (block, delay) in delays.enumerated() where delay.isFinite {
            if let last = stretches.last?.last, abs(delay - last.delay) <= jump {
                stretches[stretches.count - 1].append((Double(block) * 10, delay))
            } else {
                stretches.append([(Double(block) * 10, delay)])
            }
        }
        let slopes = stretches.filter { $0.count >= leastKnown }.flatMap(slopes).sorted()
        return slopes.isEmpty ? nil : slopes[slopes.count / 2] * 1e6
    }

    /// The slopes between some 200 points.
    private static func slopes(_ known: [(time: Double, delay: Double)]) -> [Double] {
        let points = stride(from: known.count / 10, to: known.count, by: max(1, known.count / 200)).map { known[$0] }
        return points.flatMap { first in
            points.filter { $0.time - first.time > leastSpan }
                .map { ($0.delay - first.delay) / ($0.time - first.time) }
        }
    }
}
