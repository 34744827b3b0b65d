internal import CDuplexVoice
internal import CSpeexDSP

/// Converts mono frames from one rate to another by speexdsp's resampler, without an offset in time: frame `j` of the output lies at
/// `j * from / to` of the input.
///
/// VoiceDevices has the like; with it the library would need the sound card's and the sound files' libraries too.
@safe
struct RateConversion: ~Copyable {
    /// "Desktop" quality of speexdsp: 0.01 dB of ripple up to 0.94 of Nyquist, a stop band below -70 dB; a millisecond of delay.
    private static let quality: Int32 = 5

    private let state: OpaquePointer

    init(from: Int, to: Int) throws(Failure) {
        var error: Int32 = 0
        guard let state = unsafe speex_resampler_init(1, UInt32(from), UInt32(to), Self.quality, &error) else {
            throw Failure(
                DV_OUT_OF_MEMORY, "\(from) Hz could not be converted to \(to) (speexdsp: \(error)); free memory")
        }
        unsafe self.state = state
        _ = unsafe speex_resampler_skip_zeros(state)
    }

    deinit { unsafe speex_resampler_destroy(state) }

    /// Converts up to `count` frames into at most `room`; returns how many of each were used. Real-time safe.
    @_noLocks @_noAllocation
    mutating func run(
        _ input: UnsafePointer<Float>, _ count: Int, into output: UnsafeMutablePointer<Float>, room: Int
    ) -> (consumed: Int, produced: Int) {
        var consumed = UInt32(truncatingIfNeeded: count)
        var produced = UInt32(truncatingIfNeeded: room)
        unsafe dv_resample(state, input, &consumed, output, &produced)
        return (Int(consumed), Int(produced))
    }
}
