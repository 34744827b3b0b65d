import Glibc
import VoiceSignal

/// Tells how likely it is that somebody speaks, each 10 ms: a small recurrent neural network.
///
///     48, 32 or 16 kHz ─> Decimator ─> SpeechFeatures ─┬──────────────┬─> dense, tanh ─> recurrent ─┬─> recurrent ─┬─> dense ─> logistic
///                                                      └─ bands' rise ┘                             └──────────────┘
///
/// Evidence only: when speech begins and ends is ``SpeechDetector``'s decision. It hears the past alone, so it delays
/// nothing; what it heard is remembered for seconds, so a steady hum is soon known for one. Trained by
/// tools/train-speech. Allocates when made and never after. One owner.
package struct SpeechNetwork: ~Copyable {
    private static let mark = 0x4e53_5644

    private var decimator: Decimator?
    private var sound = RealVector(count: SpeechFeatures.block)
    private var features = SpeechFeatures()
    private var before = RealVector(count: SpeechFeatures.bands)
    private var isFirstBlock = true

    private let mean: RealVector
    private let slope: RealVector
    private let entry: DenseLayer
    private var first: RecurrentLayer
    private var second: RecurrentLayer
    private let exit: DenseLayer

    private var scaled: RealVector
    private var entered: RealVector
    private var joined: RealVector
    private var logits: RealVector

    /// A network that has heard nothing yet; allocates.
    ///
    /// - Parameter sampleRate: 16 000, 32 000 or 48 000 frames per second.
    package init(sampleRate: Int) {
        precondition(CaptureProcessor.sampleRates.contains(sampleRate), "a rate that is processed")
        let factor = sampleRate / SpeechFeatures.sampleRate
        decimator = factor == 1 ? nil : Decimator(factor: factor, block: sampleRate / 100)
        var file = NetworkFile.speech
        let (mark, inputs, width, units) = (file.integer(), file.integer(), file.integer(), file.integer())
        precondition(
            mark == Self.mark && inputs == SpeechFeatures.count + SpeechFeatures.bands, "made for other features")
        mean = file.floats(inputs)
        slope = file.floats(inputs)
        entry = DenseLayer(inputs: inputs, outputs: width, from: &file)
        first = RecurrentLayer(inputs: width, units: units, from: &file)
        second = RecurrentLayer(inputs: units, units: units, from: &file)
        // One output, and seven that the kernels need beside it.
        exit = DenseLayer(inputs: 2 * units, outputs: 8, from: &file)
        let isWhole = file.isAtEnd
        precondition(isWhole, "a network of another shape")
        scaled = RealVector(count: inputs)
        entered = RealVector(count: width)
        joined = RealVector(count: 2 * units)
        logits = RealVector(count: 8)
    }

    /// Takes 10 ms of sound, full scale ±1, and returns the probability, 0...1, that its newest part is speech.
    ///
    /// What is beyond ``SampleBounds`` is bounded, as a ``Decimator`` does: the layers would remember it for good.
    package mutating func run(_ block: Span<Float>) -> Float {
        if decimator == nil {
            sound.write(bounded: block)
        } else {
            decimator?.run(block, into: &sound)
        }
        Self.look(sound, &features)
        scale()
        entry.run(scaled, into: &entered)
        entered.takeHyperbolicTangent()
        first.run(entered)
        second.run(first.state)
        joined.write(first.state, at: 0)
        joined.write(second.state, at: first.state.count)
        exit.run(joined, into: &logits)
        return logistic(logits[0])
    }

    private static func look(_ sound: borrowing RealVector, _ features: inout SpeechFeatures) {
        features.take(sound.span)
    }

    /// The features and the change of the bands' since the block before, each about its mean and in its deviation.
    private mutating func scale() {
        for index in 0..<SpeechFeatures.count { scaled[index] = (features.values[index] - mean[index]) * slope[index] }
        for band in 0..<SpeechFeatures.bands {
            let index = SpeechFeatures.count + band
            let change = isFirstBlock ? 0 : features.values[band] - before[band]
            scaled[index] = (change - mean[index]) * slope[index]
            before[band] = features.values[band]
        }
        isFirstBlock = false
    }
}
