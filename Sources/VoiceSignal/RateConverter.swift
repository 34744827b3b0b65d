internal import CSpeexDSP

/// Converts mono frames from one rate to another with speexdsp's polyphase resampler, without an offset in time: frame
/// `j` of the output lies exactly at `j * inputRate / outputRate` of the input.
@safe
package struct RateConverter: ~Copyable, @unchecked Sendable {
    /// "Desktop" quality of speexdsp: 0.01 dB ripple to 0.94 of Nyquist, stop band below -70 dB; a millisecond of
    /// delay.
    static var quality: Int32 { 5 }

    package let inputRate: Int
    package let outputRate: Int
    private let state: OpaquePointer

    /// A converter between two rates, Hz. Allocates.
    package init(inputRate: Int, outputRate: Int) throws(RateConverterError) {
        var error: Int32 = 0
        guard
            let state = unsafe speex_resampler_init(1, UInt32(inputRate), UInt32(outputRate), Self.quality, &error)
        else { throw RateConverterError(inputRate: inputRate, outputRate: outputRate, code: error) }
        unsafe self.state = state
        self.inputRate = inputRate
        self.outputRate = outputRate
        _ = unsafe speex_resampler_skip_zeros(state)
    }

    deinit { unsafe speex_resampler_destroy(state) }

    /// How many input frames must follow a moment before the output for it is complete.
    package var delayInputFrames: Int { unsafe Int(speex_resampler_get_input_latency(state)) }

    /// The same as time.
    package var delay: Duration { .nanoseconds(Int64(delayInputFrames) * 1_000_000_000 / Int64(inputRate)) }

    /// Forgets the past. Real-time safe.
    @_noLocks @_noAllocation
    package mutating func reset() { unsafe dv_resampler_reset(state) }

    /// Converts up to `inputCount` frames into up to `outputCount`; returns how many of each were used. Real-time safe.
    @_noLocks @_noAllocation
    package mutating func process(
        _ input: UnsafePointer<Float>, _ inputCount: Int, _ output: UnsafeMutablePointer<Float>, _ outputCount: Int
    ) -> (consumed: Int, produced: Int) {
        var consumed = UInt32(truncatingIfNeeded: inputCount)
        var produced = UInt32(truncatingIfNeeded: outputCount)
        unsafe dv_resample(state, input, &consumed, output, &produced)
        return (Int(consumed), Int(produced))
    }
}

/// A pair of rates that cannot be converted, or no memory for it. Remedy: other rates, or more memory.
package struct RateConverterError: Error, CustomStringConvertible {
    package let inputRate: Int
    package let outputRate: Int
    /// Of speexdsp's RESAMPLER_ERR.
    package let code: Int32

    /// One sentence for a log or a terminal.
    package var description: String {
        "no resampler from \(inputRate) to \(outputRate) Hz (speexdsp error \(code))"
    }
}
