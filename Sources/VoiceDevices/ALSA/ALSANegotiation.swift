internal import CALSA

#if canImport(Glibc)
    internal import Glibc
#endif

/// Agrees with a PCM on a format: what is asked for where the device has it, else what lies nearest.
struct ALSANegotiation {
    let name: String
    let direction: DeviceDirection
    let request: StreamFormat

    /// From best to worst for a voice: what needs no conversion first, then the most bits.
    private static let formats: [(SampleFormat, snd_pcm_format_t)] = [
        (.float32, SND_PCM_FORMAT_FLOAT_LE), (.int32, SND_PCM_FORMAT_S32_LE), (.int24, SND_PCM_FORMAT_S24_LE),
        (.int24Packed, SND_PCM_FORMAT_S24_3LE), (.int16, SND_PCM_FORMAT_S16_LE),
    ]

    /// What stands in the way of one attempt.
    private struct Refusal: Error {
        let errno: Int32
        let error: DeviceError
    }

    /// Sets the PCM up. Rates other than 48 kHz are left to us, whose resampler is better than that of alsa-lib's
    /// `plug` and knows its delay; only where a PCM cannot do without its own is it let.
    ///
    /// A sample format that a PCM has may still be refused, as wide samples are on a USB bus that has no room for them:
    /// then the next one is tried.
    func run(_ pcm: OpaquePointer) throws(DeviceError) -> StreamFormat {
        var first: DeviceError?
        for allowsResampling in [false, true] {
            for format in Self.formats {
                do throws(Refusal) {
                    if let active = try unsafe setHardware(pcm, format, allowsResampling: allowsResampling) {
                        return active
                    }
                } catch {
                    guard error.errno == EINVAL || error.errno == ENOSPC else { throw error.error }
                    first = first ?? error.error
                }
            }
        }
        throw first
            ?? .unsupported(
                asked: "little-endian samples of 16, 24 or 32 bits", offers: "other formats only; \(advice)")
    }

    private var advice: String { "name it as '\(ALSACardAddress.converting(name))'" }

    /// Sets the PCM up with this sample format; nil where it does not have it.
    private func setHardware(
        _ pcm: OpaquePointer, _ format: (SampleFormat, snd_pcm_format_t), allowsResampling: Bool
    ) throws(Refusal) -> StreamFormat? {
        var parameters: OpaquePointer?
        guard unsafe snd_pcm_hw_params_malloc(&parameters) == 0, let hardware = unsafe parameters else {
            throw Refusal(errno: ENOMEM, error: .io(message: "no memory for the parameters of '\(name)'"))
        }
        defer { unsafe snd_pcm_hw_params_free(hardware) }
        try unsafe check(pcm, snd_pcm_hw_params_any(pcm, hardware), "reading the parameters")
        // Fails on PCMs that never resample, which is as well.
        _ = unsafe snd_pcm_hw_params_set_rate_resample(pcm, hardware, allowsResampling ? 1 : 0)
        guard unsafe snd_pcm_hw_params_set_access(pcm, hardware, SND_PCM_ACCESS_RW_INTERLEAVED) == 0 else {
            throw Refusal(
                errno: EINVAL,
                error: .unsupported(asked: "interleaved samples", offers: "other layouts only; \(advice)"))
        }
        guard unsafe snd_pcm_hw_params_test_format(pcm, hardware, format.1) == 0 else { return nil }
        try unsafe check(pcm, snd_pcm_hw_params_set_format(pcm, hardware, format.1), "choosing a sample format")
        var channels = UInt32(request.channels)
        // As many at least, where it has them: the nearest number may be too few for an input that is chosen.
        if channels > 1 { _ = unsafe snd_pcm_hw_params_set_channels_min(pcm, hardware, &channels) }
        try unsafe check(pcm, snd_pcm_hw_params_set_channels_near(pcm, hardware, &channels), "choosing channels")
        var rate = UInt32(request.sampleRate)
        try unsafe check(pcm, snd_pcm_hw_params_set_rate_near(pcm, hardware, &rate, nil), "choosing a rate")
        // The same times at the device's own rate.
        var period = UInt(request.periodFrames) * UInt(rate) / UInt(request.sampleRate)
        try unsafe check(pcm, snd_pcm_hw_params_set_period_size_near(pcm, hardware, &period, nil), "choosing a period")
        var buffer = period * UInt(request.bufferFrames / request.periodFrames)
        try unsafe check(pcm, snd_pcm_hw_params_set_buffer_size_near(pcm, hardware, &buffer), "choosing a buffer")
        try unsafe check(pcm, snd_pcm_hw_params(pcm, hardware), "setting the parameters")
        _ = unsafe snd_pcm_hw_params_get_period_size(hardware, &period, nil)
        _ = unsafe snd_pcm_hw_params_get_buffer_size(hardware, &buffer)
        let active = StreamFormat(
            sampleRate: Int(rate), channels: Int(channels), periodFrames: Int(period), bufferFrames: Int(buffer),
            sampleFormat: format.0)
        guard active.periodFrames > 0, active.bufferFrames >= 2 * active.periodFrames else {
            throw Refusal(
                errno: EINVAL,
                error: .unsupported(
                    asked: "a buffer of two periods", offers: "periods of \(period) in a buffer of \(buffer) frames"))
        }
        try unsafe setSoftware(pcm, active)
        return active
    }

    private func setSoftware(_ pcm: OpaquePointer, _ active: StreamFormat) throws(Refusal) {
        var parameters: OpaquePointer?
        guard unsafe snd_pcm_sw_params_malloc(&parameters) == 0, let software = unsafe parameters else {
            throw Refusal(errno: ENOMEM, error: .io(message: "no memory for the parameters of '\(name)'"))
        }
        defer { unsafe snd_pcm_sw_params_free(software) }
        try unsafe check(pcm, snd_pcm_sw_params_current(pcm, software), "reading the software parameters")
        var boundary: UInt = 0
        try unsafe check(pcm, snd_pcm_sw_params_get_boundary(software, &boundary), "reading the boundary")
        // Never by itself: both directions are started on purpose, one right after the other. PulseAudio's plugin passes
        // it on in 32 bits, where it is 0: that server plays at once, whatever is there. Asked for more than lies queued
        // it would wait for as much behind every queue that has run dry, which is more than is ever written.
        try unsafe check(
            pcm, snd_pcm_sw_params_set_start_threshold(pcm, software, boundary), "setting the start threshold")
        try unsafe check(
            pcm, snd_pcm_sw_params_set_stop_threshold(pcm, software, UInt(active.bufferFrames)),
            "setting the stop threshold")
        try unsafe check(
            pcm, snd_pcm_sw_params_set_avail_min(pcm, software, UInt(active.periodFrames)), "setting the wake-up")
        // A PCM without time stamps still works: then the clock is read at each wake-up.
        _ = unsafe snd_pcm_sw_params_set_tstamp_mode(pcm, software, SND_PCM_TSTAMP_ENABLE)
        _ = unsafe snd_pcm_sw_params_set_tstamp_type(pcm, software, SND_PCM_TSTAMP_TYPE_MONOTONIC)
        try unsafe check(pcm, snd_pcm_sw_params(pcm, software), "setting the software parameters")
    }

    private func check(_ pcm: OpaquePointer, _ error: Int32, _ step: String) throws(Refusal) {
        guard error < 0 else { return }
        if error == -EINVAL { throw Refusal(errno: EINVAL, error: unsafe unsupported(pcm, error)) }
        throw Refusal(
            errno: -error,
            error: DeviceError(
                alsa: error, name: name, step: step, available: { ALSADevice.names(direction) },
                holders: { ALSADeviceHolders().of(pcm: name, direction) }))
    }

    private func unsupported(_ pcm: OpaquePointer, _ error: Int32) -> DeviceError {
        let asked = "\(request.sampleRate) Hz in periods of \(request.periodFrames) frames"
        let offers = unsafe ALSACapabilities(pcm)?.description
        return .unsupported(asked: asked, offers: offers ?? "nothing that it tells (\(alsaReason(error)))")
    }
}

/// What a PCM can do, as far as it tells without being set up.
struct ALSACapabilities: CustomStringConvertible {
    let rates: ClosedRange<Int>
    let channels: ClosedRange<Int>
    let periods: ClosedRange<Int>

    init?(_ pcm: OpaquePointer) {
        var parameters: OpaquePointer?
        guard unsafe snd_pcm_hw_params_malloc(&parameters) == 0, let hardware = unsafe parameters else { return nil }
        defer { unsafe snd_pcm_hw_params_free(hardware) }
        guard unsafe snd_pcm_hw_params_any(pcm, hardware) >= 0 else { return nil }
        var (low, high): (UInt32, UInt32) = (0, 0)
        var (shortest, longest): (UInt, UInt) = (0, 0)
        unsafe snd_pcm_hw_params_get_rate_min(hardware, &low, nil)
        unsafe snd_pcm_hw_params_get_rate_max(hardware, &high, nil)
        rates = Int(min(low, high))...Int(high)
        unsafe snd_pcm_hw_params_get_channels_min(hardware, &low)
        unsafe snd_pcm_hw_params_get_channels_max(hardware, &high)
        channels = Int(min(low, high))...Int(high)
        unsafe snd_pcm_hw_params_get_period_size_min(hardware, &shortest, nil)
        unsafe snd_pcm_hw_params_get_period_size_max(hardware, &longest, nil)
        // Some plugins answer with the largest number there is.
        periods = Int(clamping: min(shortest, longest))...Int(clamping: longest)
    }

    var description: String {
        "rates \(rates.lowerBound)-\(rates.upperBound) Hz, \(channels.lowerBound)-\(channels.upperBound) channels, "
            + "periods of \(periods.lowerBound)-\(periods.upperBound) frames"
    }
}
