internal import CALSA
internal import VoiceRealtime

#if canImport(Glibc)
    internal import Glibc
#endif

/// One direction of a sound card, opened and set up: the PCM, what its thread polls, and room for one period.
///
/// A handle of plain pointers, so that real-time code can pass it about; whoever opened it calls ``close()`` once.
@safe
struct ALSAStream: BitwiseCopyable, @unchecked Sendable {
    /// No way to a converter beyond the buffer takes longer: what tells of more, or has wrapped, tells nothing.
    private static var longestWaySeconds: Int { @_noLocks @_noAllocation get { 10 } }

    let direction: DeviceDirection
    let format: StreamFormat
    let conversion: SampleConversion
    let pcm: OpaquePointer
    /// Interleaved, as the device has it: one period, and one of silence behind it.
    let raw: UnsafeMutableRawPointer
    let bytesPerFrame: Int
    private let status: OpaquePointer
    private let software: OpaquePointer
    private let polls: UnsafeMutablePointer<pollfd>
    private let pollCount: Int

    /// Opens and sets up PCM `name`. `wake` ends a wait early. Not real-time safe.
    init(
        name: String, direction: DeviceDirection, request: StreamFormat, mix: ChannelMix, wake: WakeSignal
    ) throws(DeviceError) {
        var opened: OpaquePointer?
        let code = direction == .capture ? SND_PCM_STREAM_CAPTURE : SND_PCM_STREAM_PLAYBACK
        let error = unsafe dv_pcm_open(&opened, name, code)
        guard error == 0, let pcm = unsafe opened else {
            throw DeviceError(
                alsa: error, name: name, step: "opening", isDenied: { SoundNodeAccess.isDenied() },
                available: { ALSADevice.names(direction) }, holders: { ALSADeviceHolders().of(pcm: name, direction) })
        }
        let negotiation = ALSANegotiation(name: name, direction: direction, request: request)
        let format: StreamFormat
        do throws(DeviceError) {
            format = try unsafe negotiation.run(pcm)
            try mix.check(against: format.channels)
        } catch {
            unsafe snd_pcm_close(pcm)
            throw error
        }
        var (statusMemory, softwareMemory): (OpaquePointer?, OpaquePointer?)
        unsafe snd_pcm_status_malloc(&statusMemory)
        unsafe snd_pcm_sw_params_malloc(&softwareMemory)
        guard let status = unsafe statusMemory, let software = unsafe softwareMemory else {
            unsafe snd_pcm_close(pcm)
            throw .io(message: "no memory for the status of '\(name)'")
        }
        unsafe self.pcm = pcm
        unsafe self.status = status
        unsafe self.software = software
        self.direction = direction
        self.format = format
        conversion = SampleConversion(format: format.sampleFormat, channels: format.channels, mix: mix)
        bytesPerFrame = format.sampleFormat.bytesPerSample * format.channels
        let bytes = 2 * bytesPerFrame * format.periodFrames
        unsafe raw = .allocate(byteCount: bytes, alignment: 64)
        unsafe raw.initializeMemory(as: UInt8.self, repeating: 0, count: bytes)
        pollCount = unsafe 1 + max(Int(snd_pcm_poll_descriptors_count(pcm)), 0)
        unsafe polls = .allocate(capacity: pollCount)
        unsafe polls.initialize(
            repeating: pollfd(fd: wake.fileDescriptor, events: Int16(POLLIN), revents: 0), count: pollCount)
    }

    /// Stops the stream and lets the device go. Not real-time safe.
    func close() {
        unsafe snd_pcm_drop(pcm)
        unsafe snd_pcm_close(pcm)
        unsafe snd_pcm_status_free(status)
        unsafe snd_pcm_sw_params_free(software)
        unsafe raw.deallocate()
        unsafe polls.deallocate()
    }

    /// How long one period lasts, in nanoseconds.
    var periodNanoseconds: Int64 { Int64(format.periodFrames) * 1_000_000_000 / Int64(format.sampleRate) }

    /// Makes the stream ready to be started: prepared, and for playback with `target` frames queued, of which the last
    /// `pending` are those at the end of ``raw`` and the others silence, and with the next wake-up due when a period of
    /// them has been played. 0 or a negative errno. Not real-time safe.
    func prime(target: Int = 0, pending: Int = 0) -> Int32 {
        // It may still run: a device that stands still says so, and one that has woken from a suspend. The kernel
        // prepares none that does.
        _ = unsafe snd_pcm_drop(pcm)
        let error = unsafe snd_pcm_prepare(pcm)
        guard error == 0, direction == .playback else { return error }
        setTarget(target)
        let silence = unsafe raw + bytesPerFrame * format.periodFrames
        var left = target - pending
        while left > 0 {
            let written = unsafe dv_pcm_write(pcm, silence, UInt64(min(left, format.periodFrames)))
            // A plugin may take a little less than it promised; the stream then starts with a little less in stock.
            if written == 0 || written == -Int64(EAGAIN) { break }
            if written < 0 { return Int32(written) }
            left -= Int(written)
        }
        guard pending > 0 else { return 0 }
        let start = unsafe silence - pending * bytesPerFrame
        let written = unsafe dv_pcm_write(pcm, start, UInt64(pending))
        return written < 0 && written != -Int64(EAGAIN) ? Int32(written) : 0
    }

    /// Has the playback thread woken whenever fewer than `frames` less a period are queued. Not real-time safe: hw: one
    /// ioctl.
    func setTarget(_ frames: Int) {
        let available = format.bufferFrames - frames + format.periodFrames
        // A plugin that refuses wakes too early or too late, which the loop sees from what is queued.
        guard unsafe snd_pcm_sw_params_current(pcm, software) == 0 else { return }
        _ = unsafe snd_pcm_sw_params_set_avail_min(pcm, software, UInt(available))
        _ = unsafe snd_pcm_sw_params(pcm, software)
    }

    /// Starts the primed stream. 0 or a negative errno.
    func begin() -> Int32 { unsafe snd_pcm_start(pcm) }

    /// True while frames pass.
    var isRunning: Bool { unsafe snd_pcm_state(pcm) == SND_PCM_STATE_RUNNING }

    /// When the stream was started: as the driver tells, or now where it tells nothing that can be. To be asked right
    /// after the start.
    func startTime() -> MonotonicTime {
        var moment = dv_pcm_moment()
        _ = unsafe dv_pcm_observe(pcm, status, &moment)
        let now = MonotonicTime.now()
        let age = now.nanoseconds - moment.trigger
        return age < 0 || age > 1_000_000_000 ? now : MonotonicTime(nanoseconds: moment.trigger)
    }

    /// True once the card has been pulled out. Neither the errno nor the state tells of it through every plugin, but
    /// then poll does.
    var isGone: Bool {
        if unsafe snd_pcm_state(pcm) == SND_PCM_STATE_DISCONNECTED { return true }
        return wait(milliseconds: 0) == .gone
    }

    /// What became of a wait.
    enum Wait { case ready, woken, timedOut, gone }

    /// Waits until a period can be moved, at most `milliseconds`.
    func wait(milliseconds: Int32) -> Wait {
        let count = unsafe snd_pcm_poll_descriptors(pcm, polls + 1, UInt32(pollCount - 1))
        let all = nfds_t(1 + max(Int(count), 0))
        let ready = unsafe poll(polls, all, milliseconds)
        if ready == 0 { return .timedOut }
        // A signal has interrupted the wait: the loop looks about and waits again.
        if ready < 0 { return .woken }
        if unsafe ready == 1 && polls[0].revents != 0 { return .woken }
        var events: UInt16 = 0
        // An ioplug wants this call, to clear its timer; an error shows when the stream is next looked at.
        _ = unsafe snd_pcm_poll_descriptors_revents(pcm, polls + 1, UInt32(all - 1), &events)
        if Int32(events) & (POLLHUP | POLLNVAL) != 0 { return .gone }
        return events == 0 ? .woken : .ready
    }

    /// Where the stream stands, with the time at which it stood there; the clock's reading where the driver gives no
    /// time, or one that cannot be, and no delay where that cannot be. 0 or a negative errno. Real-time safe.
    @_noLocks @_noAllocation
    func observe(_ moment: inout dv_pcm_moment) -> Int32 {
        let error = unsafe dv_pcm_observe(pcm, status, &moment)
        let now = MonotonicTime.now().nanoseconds
        let age = now - moment.nanoseconds
        if age < 0 || age > 1_000_000_000 { moment.nanoseconds = now }
        let longest = Int64(format.bufferFrames + Self.longestWaySeconds * format.sampleRate)
        if Int64(moment.delay) > longest { moment.delay = 0 }
        return error
    }
}
