import CSpeexDSP
import Glibc
import VoiceSignal

/// speexdsp's echo canceller, a multidelay block frequency-domain filter (Valin, "On adjusting the learning rate in
/// frequency domain echo cancellation with double-talk", 2007), with its preprocessor for the residual echo and the
/// noise.
///
/// Models 250 ms from the reference on, so the reference must be re-timed and free of drift. The preprocessor lags by a
/// block. Allocates at creation only.
@safe
final class SpeexStage: EchoStage {
    /// Length of the filter, seconds.
    private static let tailSeconds = 0.25
    /// Attenuation of residual echo and of noise, dB, by setting from `off` on.
    private static let echoAttenuation: [Int32] = [0, -25, -40, -55]
    private static let noiseAttenuation: [Int32] = [0, -6, -12, -18, -30]

    let traits = {
        var traits = EchoTraits(library: "speexdsp")
        traits.hasLevels = true
        traits.suppressesNoise = true
        return traits
    }()

    private let block: Int
    private let canceller: OpaquePointer
    private let preprocessor: OpaquePointer
    private var capture: FixedArray<Int16>
    private var reference: FixedArray<Int16>
    private var output: FixedArray<Int16>
    /// What the canceller is given while it is off, and gives back.
    private let silence: FixedArray<Int16>
    private var unheard: FixedArray<Int16>
    /// Blocks of silence until nothing is left of what was played before it was switched off.
    private var blocksToForget = 0
    private var echo = ProcessingSettings.EchoSuppression.off
    private var noise = ProcessingSettings.NoiseSuppression.off

    /// Allocates; not real-time safe.
    init(sampleRate: Int) throws(ProcessingError) {
        block = sampleRate / 100
        let tail = Int32(Double(sampleRate) * Self.tailSeconds)
        guard let canceller = unsafe speex_echo_state_init(Int32(block), tail) else { throw .outOfMemory }
        guard let preprocessor = unsafe speex_preprocess_state_init(Int32(block), Int32(sampleRate)) else {
            unsafe speex_echo_state_destroy(canceller)
            throw .outOfMemory
        }
        unsafe self.canceller = canceller
        unsafe self.preprocessor = preprocessor
        capture = FixedArray(count: block, repeating: 0)
        reference = FixedArray(count: block, repeating: 0)
        output = FixedArray(count: block, repeating: 0)
        silence = FixedArray(count: block, repeating: 0)
        unheard = FixedArray(count: block, repeating: 0)
        var rate = Int32(sampleRate)
        unsafe _ = speex_echo_ctl(canceller, SPEEX_ECHO_SET_SAMPLING_RATE, &rate)
    }

    deinit {
        unsafe speex_preprocess_state_destroy(preprocessor)
        unsafe speex_echo_state_destroy(canceller)
    }

    /// The preprocessor's block.
    var delay: Int { echo == .off && noise == .off ? 0 : block }

    /// The filter keeps what it knows.
    func apply(_ settings: ProcessingSettings) -> Int? {
        let (before, hadEcho) = (delay, echo != .off)
        (echo, noise) = (settings.echo, settings.noise)
        configure()
        if hadEcho != (echo != .off) { blocksToForget = Int(Self.tailSeconds * 100) + 1 }
        // The canceller's output differs from its input by a notch at 0 Hz, and the preprocessor overlaps blocks.
        return delay != before || hadEcho != (echo != .off) ? delay : nil
    }

    private func configure() {
        var residual = Self.echoAttenuation[Int(echo.rawValue)]
        var residualWhileTalking = residual / 3
        var attenuation = Self.noiseAttenuation[Int(noise.rawValue)]
        // Without it the preprocessor applies no gain at all, not even against what is left of the echo.
        var denoise: Int32 = delay > 0 ? 1 : 0
        unsafe _ = speex_preprocess_ctl(preprocessor, SPEEX_PREPROCESS_SET_ECHO_SUPPRESS, &residual)
        unsafe _ = speex_preprocess_ctl(
            preprocessor, SPEEX_PREPROCESS_SET_ECHO_SUPPRESS_ACTIVE, &residualWhileTalking)
        unsafe _ = speex_preprocess_ctl(preprocessor, SPEEX_PREPROCESS_SET_NOISE_SUPPRESS, &attenuation)
        unsafe _ = speex_preprocess_ctl(preprocessor, SPEEX_PREPROCESS_SET_DENOISE, &denoise)
        let state = unsafe echo == .off ? nil : canceller
        unsafe _ = speex_preprocess_ctl(
            preprocessor, SPEEX_PREPROCESS_SET_ECHO_STATE, unsafe state.map { unsafe UnsafeMutableRawPointer($0) })
    }

    /// Both sides fall silent for the canceller, as in ``NativeStage``.
    private func forget() {
        guard blocksToForget > 0 else { return }
        blocksToForget -= 1
        unsafe speex_echo_cancellation(canceller, silence.start, silence.start, unheard.start)
    }

    /// `delay` is not used: it must lie within the filter's 250 ms.
    func run(
        capture span: inout MutableSpan<Float>, reference far: Span<Float>, delay _: Int,
        report: inout ProcessingReport
    ) {
        if echo == .off { forget() }
        guard delay > 0 else { return }
        for index in 0..<block {
            capture[index] = Int16(fullScale: span[index])
            reference[index] = Int16(fullScale: far[index])
        }
        if echo == .off {
            output.copy(from: capture)
        } else {
            unsafe speex_echo_cancellation(canceller, capture.start, reference.start, output.start)
        }
        unsafe _ = speex_preprocess_run(preprocessor, output.start)
        for index in 0..<block { span[index] = Float(fullScale: output[index]) }
    }
}
