import CSpeexDSP

/// Why a ``Resampler`` could not be made or changed.
public enum ResamplerError: Error, Equatable, Sendable {
    /// A rate or a part of a ratio is 0 or beyond 32 bits, or the quality is not 0...10. Correct the argument.
    case invalidArgument
    /// The library could not allocate. Free memory and try again.
    case outOfMemory
    /// The library refused with this code. The resampler goes on with its former ratio.
    case libraryRefused(code: Int32)
}

/// Resamples a mono signal by any exact ratio, which can be changed while it runs: speexdsp's windowed-sinc resampler.
///
/// One owner. `run` does not allocate; making one and changing the ratio may.
@safe
public struct Resampler: ~Copyable {
    /// Filter length against cost, in the library's steps.
    public enum Quality: Int32, BitwiseCopyable, CaseIterable, Sendable {
        /// Speech over a call.
        case voice = 3
        /// The default; aliases below -80 dB.
        case standard = 5
        /// Files.
        case desktop = 7
        /// Longest filter, for measuring.
        case best = 10
    }

    private let state: OpaquePointer

    /// A resampler between two rates.
    ///
    /// - Parameters:
    ///   - inputRate: frames per second of the input, at least 1.
    ///   - outputRate: frames per second of the output, at least 1.
    public init(from inputRate: Int, to outputRate: Int, quality: Quality = .standard) throws(ResamplerError) {
        guard let input = UInt32(exactly: inputRate), let output = UInt32(exactly: outputRate), input > 0, output > 0
        else { throw .invalidArgument }
        var code: Int32 = 0
        let made = unsafe speex_resampler_init(1, input, output, quality.rawValue, &code)
        guard let made = unsafe made else { throw ResamplerError(code) }
        unsafe state = made
    }

    deinit { unsafe speex_resampler_destroy(state) }

    /// Changes the ratio to exactly `inputFrames` in for `outputFrames` out, keeping the signal that is inside; for drift,
    /// numbers around a million give steps of 1 ppm.
    ///
    /// The filter is computed anew when the ratio's reduced denominator changes much: control rate, not once per block.
    public mutating func setRatio(inputFrames: Int, outputFrames: Int) throws(ResamplerError) {
        guard let input = UInt32(exactly: inputFrames), let output = UInt32(exactly: outputFrames), input > 0,
            output > 0
        else { throw .invalidArgument }
        let code = unsafe speex_resampler_set_rate_frac(state, input, output, input, output)
        guard code == 0 else { throw ResamplerError(code) }
    }

    /// Resamples as much of `input` as fits into `output`.
    ///
    /// - Returns: frames taken from the input and frames written; one of the two is used up.
    public mutating func run(
        _ input: Span<Float>, into output: inout MutableSpan<Float>
    ) throws(ResamplerError) -> (consumed: Int, produced: Int) {
        var consumed = UInt32(clamping: input.count)
        var produced = UInt32(clamping: output.count)
        let state = unsafe self.state
        let code = unsafe output.withUnsafeMutableBufferPointer { mine in
            unsafe input.withUnsafeBufferPointer { theirs in
                guard let to = mine.baseAddress, let from = theirs.baseAddress else {
                    consumed = 0
                    produced = 0
                    return Int32(0)
                }
                return unsafe speex_resampler_process_float(state, 0, from, &consumed, to, &produced)
            }
        }
        guard code == 0 else { throw ResamplerError(code) }
        return (Int(consumed), Int(produced))
    }

    /// Forgets the signal that is inside.
    public mutating func reset() {
        unsafe _ = speex_resampler_reset_mem(state)
    }

    /// Drops the silence that the filter would begin with, so that a file comes out with its beginning in place.
    public mutating func skipLeadingSilence() {
        unsafe _ = speex_resampler_skip_zeros(state)
    }

    /// Frames of the input by which the output lags.
    public var inputLatency: Int { unsafe Int(speex_resampler_get_input_latency(state)) }

    /// Frames of the output by which it lags.
    public var outputLatency: Int { unsafe Int(speex_resampler_get_output_latency(state)) }
}

extension ResamplerError {
    fileprivate init(_ code: Int32) {
        self =
            switch Int(code) {
            case RESAMPLER_ERR_ALLOC_FAILED: .outOfMemory
            case RESAMPLER_ERR_INVALID_ARG: .invalidArgument
            default: .libraryRefused(code: code)
            }
    }
}
