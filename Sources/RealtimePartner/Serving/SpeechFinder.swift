internal import VoiceDialog
internal import VoicePartner
internal import VoiceProcessing

/// Finds where somebody speaks in what a client sends: the engine's own detector, by the client's settings.
struct SpeechFinder: ~Copyable {
    enum Event {
        /// Since the beginning of the search.
        case started(at: Duration)
        /// `heard`: all sound until then.
        case stopped(at: Duration, heard: Duration)
    }

    private static let block = 160
    private static let blockDuration = Duration.milliseconds(10)

    private var converter: RecogniserSound
    private var network = SpeechNetwork(sampleRate: RecogniserSound.rate)
    private var detector: SpeechDetector
    private var rest: [Float] = []
    private var elapsed = Duration.zero

    /// - Parameter rate: of the sound, Hz.
    init(_ detection: ServedSettings.Detection, rate: Int) throws(PartnerError) {
        converter = try RecogniserSound(rate: rate)
        let threshold = Float(detection.threshold)
        detector = SpeechDetector(
            SpeechDetector.Configuration(
                threshold: threshold, hysteresis: min(0.25, threshold / 2), minimumSilence: detection.silence))
    }

    /// Takes the next sound, full scale ±32,768; calls `tell` with what is found in it.
    mutating func take(_ samples: [Int16], tell: (Event) -> Void) {
        rest += converter.convert(samples)
        var start = 0
        while rest.count - start >= Self.block {
            elapsed += Self.blockDuration
            let block = Array(rest[start..<(start + Self.block)])
            let probability = network.run(block.span)
            start += Self.block
            switch detector.take(probability: probability, duration: Self.blockDuration, until: elapsed) {
            case .speechStarted(let at): tell(.started(at: at))
            case .speechEnded(let at): tell(.stopped(at: at, heard: elapsed))
            case nil: break
            }
        }
        rest.removeFirst(start)
    }
}
