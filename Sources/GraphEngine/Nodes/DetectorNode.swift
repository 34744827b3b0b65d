internal import VoiceProcessing
internal import VoiceRealtime
internal import VoiceSignal

/// Tells when somebody speaks: ``SpeechNetwork`` hears, ``SpeechDetector`` decides.
final class DetectorNode: GraphNode {
    private enum Event { static let (start, end) = (0, 1) }

    private let hearing: OwnedMemory<Hearing>

    init(_ setup: NodeSetup) { hearing = OwnedMemory(Hearing(setup.settings)) }

    /// What the fields say.
    static func configuration(_ settings: NodeSettings) -> SpeechDetector.Configuration {
        let threshold = settings.number("threshold")
        let frame = settings.fields["frameSize"]?.integer ?? settings.sampleRate / 50
        let hysteresis = settings.fields["hysteresis"]?.number ?? min(0.15, threshold / 2)
        return SpeechDetector.Configuration(
            frame: .nanoseconds(Int64(frame) * 1_000_000_000 / Int64(settings.sampleRate)), threshold: Float(threshold),
            hysteresis: Float(hysteresis), onsetConfirmation: .milliseconds(settings.number("onsetConfirmationMs")),
            minimumSpeech: .milliseconds(settings.number("minSpeechDurationMs")),
            minimumSilence: .milliseconds(settings.number("minSilenceDurationMs")))
    }

    func process(_ input: borrowing GraphInput, into output: inout GraphOutput) {
        hearing.value.process(input.sound(), &output)
    }

    func complete(_ output: inout GraphOutput) { hearing.value.complete(&output) }

    /// All that changes in a block.
    private struct Hearing: ~Copyable {
        private let rate: Int
        private let block: Int
        private let pad: Duration
        private var network: SpeechNetwork
        private var detector: SpeechDetector
        /// Frames that make no block of 10 ms yet.
        private var rest: RealVector
        private var waiting = 0
        private var elapsed = Duration.zero
        private var onset = Duration.zero
        /// End of the speech before: what is kept before speech does not reach into it.
        private var lastEnd = Duration.zero

        init(_ settings: NodeSettings) {
            rate = settings.sampleRate
            block = rate / 100
            pad = .milliseconds(settings.number("speechPadMs"))
            network = SpeechNetwork(sampleRate: rate)
            detector = SpeechDetector(DetectorNode.configuration(settings))
            rest = RealVector(count: block)
        }

        mutating func process(_ sound: Span<Float>, _ output: inout GraphOutput) {
            var used = 0
            while used < sound.count {
                if waiting == 0, sound.count - used >= block {
                    judge(network.run(sound.extracting(used..<used + block)), &output)
                    used += block
                    continue
                }
                let count = min(block - waiting, sound.count - used)
                rest.write(sound.extracting(used..<used + count), at: waiting)
                waiting += count
                used += count
                guard waiting == block else { break }
                waiting = 0
                judge(Self.hear(rest, by: &network), &output)
            }
        }

        /// Its own function, so that two members are accessed side by side.
        private static func hear(_ rest: borrowing RealVector, by network: inout SpeechNetwork) -> Float {
            network.run(rest.span)
        }

        mutating func complete(_ output: inout GraphOutput) {
            guard detector.isSpeaking else { return }
            output.tell(Event.end, start: frames(onset), end: frames(elapsed))
        }

        private mutating func judge(_ probability: Float, _ output: inout GraphOutput) {
            elapsed += .milliseconds(10)
            switch detector.take(probability: probability, duration: .milliseconds(10), until: elapsed) {
            case .speechStarted(let at):
                onset = max(lastEnd, at - pad)
                output.tell(Event.start, start: frames(onset), end: frames(elapsed))
            case .speechEnded(let at):
                lastEnd = at
                output.tell(Event.end, start: frames(onset), end: frames(at))
            case nil: break
            }
        }

        private func frames(_ time: Duration) -> Int64 { Int64((time / .seconds(1) * Double(rate)).rounded()) }
    }
}
