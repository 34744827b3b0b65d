/// Cuts a recording into the stretches in which somebody speaks, from the probabilities of its blocks.
///
/// A ``SpeechDetector`` decides; this keeps what it decided, with the probability and the sound that is to be kept
/// before it. Pure, and bounded: it remembers one segment.
package struct SpeechSegmenter: Sendable {
    /// A stretch of speech.
    package struct Segment: Equatable, Sendable {
        /// Its beginning and end in the recording; the beginning is earlier by the pre-roll than what was heard, as far
        /// as there is sound.
        package var start: Duration
        package var end: Duration
        /// Mean probability, 0...1, from the first speech to the last.
        package var probability: Float
    }

    private static let block = Duration.milliseconds(10)

    private let preRoll: Duration
    private var detector: SpeechDetector
    private var elapsed = Duration.zero
    /// End of the segment before: nothing is in two of them.
    private var lastEnd = Duration.zero
    private var sinceOnset = Mean()
    private var beforePause = Mean()
    private var onset: Duration?

    /// Probabilities since a moment.
    private struct Mean {
        var sum = 0.0
        var count = 0
        var value: Float { count == 0 ? 0 : Float(sum / Double(count)) }
        mutating func take(_ probability: Float) { (sum, count) = (sum + Double(probability), count + 1) }
    }

    /// A segmenter.
    ///
    /// - Parameters:
    ///   - configuration: a valid one.
    ///   - preRoll: sound before the first speech that belongs to a segment, so that its first sound is whole.
    package init(_ configuration: SpeechDetector.Configuration = .init(), preRoll: Duration = .zero) {
        precondition(configuration.isValid && preRoll >= .zero, "a configuration within its ranges")
        detector = SpeechDetector(configuration)
        self.preRoll = preRoll
    }

    /// Takes the probability of the next 10 ms, and their level, dBFS, where it is known; returns the segment that
    /// ended, which it did at its `end`, before now.
    package mutating func take(_ probability: Float, level: Float? = nil) -> Segment? {
        elapsed += Self.block
        let event = detector.take(probability: probability, level: level, duration: Self.block, until: elapsed)
        switch event {
        case .speechStarted(let start): onset = start
        case .speechEnded(let end): return close(at: end)
        case nil: break
        }
        if detector.isSilent { sinceOnset = Mean() } else { sinceOnset.take(probability) }
        if !detector.isPausing { beforePause = sinceOnset }
        return nil
    }

    /// Ends the recording; returns the segment that it cuts off.
    package mutating func finish() -> Segment? { close(at: detector.pauseBegan ?? elapsed) }

    private mutating func close(at end: Duration) -> Segment? {
        guard let onset else { return nil }
        let segment = Segment(start: max(lastEnd, onset - preRoll), end: end, probability: beforePause.value)
        self.onset = nil
        lastEnd = end
        sinceOnset = Mean()
        return segment
    }
}
