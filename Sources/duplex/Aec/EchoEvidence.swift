import Glibc

/// What two recordings and their result tell of the echo: measured over the 10 ms blocks in which the far end was
/// heard.
///
/// A near talker's energy counts on both sides, so what is measured over all of these blocks is a lower bound for the
/// echo removed. It is measured again over those in which the far end was alone.
struct EchoEvidence {
    /// How long the far end was heard.
    let heardSeconds: Double
    /// Energy of the microphone over energy of the output while the far end was heard, dB; nil where it never was, and
    /// where the samples are too large for an energy.
    let enhancementDecibels: Double?
    /// The same of the blocks in which the near end did not talk.
    let aloneSeconds: Double
    let aloneEnhancementDecibels: Double?
    /// When, counted from the far end's first sound, 20 dB were removed over half a second; nil where they never were.
    let convergenceSeconds: Double?

    /// The far end is heard where it was above this and within ``range`` of its loudest, dBFS.
    private static let floor = -60.0
    /// See ``floor``, dB.
    private static let range = 30.0
    private static let converged = 20.0
    /// Less of a far end alone says nothing, seconds.
    static let leastAlone = 1.0
    /// Half a second of 10 ms blocks.
    private static let window = 50

    /// - Parameters:
    ///   - delay: frames from playing to recording.
    ///   - lag: frames by which the output lags the microphone.
    ///   - nearTalks: for each block of the microphone, whether the near end talks; where it has none, it does not.
    init(
        microphone: [Float], reference: [Float], output: [Float], rate: Int, delay: Int, lag: Int,
        nearTalks: [Bool] = []
    ) {
        let block = rate / 100
        let blocks = (min(microphone.count, reference.count, output.count) - max(delay, lag)) / block
        guard blocks > 0 else {
            (heardSeconds, aloneSeconds) = (0, 0)
            (enhancementDecibels, aloneEnhancementDecibels) = (nil, nil)
            convergenceSeconds = nil
            return
        }
        func energy(_ signal: [Float], _ start: Int) -> Double {
            guard start >= 0, start + block <= signal.count else { return 0 }
            return signal[start..<start + block].reduce(0) { $0 + Double($1) * Double($1) }
        }
        let far = (0..<blocks).map { energy(reference, $0 * block - delay) }
        let before = (0..<blocks).map { energy(microphone, $0 * block) }
        let after = (0..<blocks).map { energy(output, $0 * block + lag) }
        let loudest = far.max() ?? 0
        let threshold = max(loudest * pow(10, -Self.range / 10), Double(block) * pow(10, Self.floor / 10))
        let heard = (0..<blocks).filter { far[$0] >= threshold }
        let alone = heard.filter { !nearTalks.indices.contains($0) || !nearTalks[$0] }
        heardSeconds = Double(heard.count) / 100
        aloneSeconds = Double(alone.count) / 100
        guard let first = heard.first else {
            (enhancementDecibels, aloneEnhancementDecibels) = (nil, nil)
            convergenceSeconds = nil
            return
        }
        // Half a step of 16 bits, so that digital silence is not infinitely quiet.
        let silence = Double(block) * 2.3e-10
        func ratio(_ indices: some Sequence<Int>) -> Double {
            let (came, went) = indices.reduce((0.0, 0.0)) { ($0.0 + before[$1], $0.1 + after[$1]) }
            return 10 * log10(max(came, silence) / max(went, silence))
        }
        enhancementDecibels = ratio(heard).known
        aloneEnhancementDecibels = alone.isEmpty ? nil : ratio(alone).known
        let judged = aloneSeconds < Self.leastAlone ? heard : alone
        let starts = stride(from: 0, through: judged.count - Self.window, by: 5)
        convergenceSeconds = starts.first { ratio(judged[$0..<$0 + Self.window]) >= Self.converged }
            .map { Double(judged[$0] - first) / 100 }
    }
}
