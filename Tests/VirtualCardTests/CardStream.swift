import CALSA
import Glibc

enum Direction: Sendable {
    case playback, capture

    var stream: snd_pcm_stream_t { self == .playback ? SND_PCM_STREAM_PLAYBACK : SND_PCM_STREAM_CAPTURE }
}

/// What a program asks of a PCM.
struct Shape: Sendable {
    var format = SND_PCM_FORMAT_FLOAT_LE
    var channels: UInt32 = 1
    var rate: UInt32 = 48_000
    var period = 480
    var periods = 4
    var access = SND_PCM_ACCESS_RW_INTERLEAVED
    /// Frames that wake the program; a period where nothing else is said.
    var availableMinimum: Int?

    var buffer: Int { period * periods }
}

/// One direction of a card through libasound's own functions, as a test wants them: nothing waits longer than ten
/// seconds.
@safe
final class CardStream: @unchecked Sendable {
    private static let waitMilliseconds: Int32 = 10_000

    let pcm: OpaquePointer
    let shape: Shape
    private var isClosed = false

    init(_ name: String, _ direction: Direction, _ shape: Shape = Shape()) throws(ALSAFailure) {
        self.shape = shape
        unsafe pcm = try CardWorkshop.open(name, direction.stream)
        try configure()
        try prepare()
    }

    deinit { close() }

    /// Gives the direction back; nothing else may be called afterwards.
    func close() {
        if !isClosed { _ = unsafe snd_pcm_close(pcm) }
        isClosed = true
    }

    private func configure() throws(ALSAFailure) {
        var hardware: OpaquePointer?
        var software: OpaquePointer?
        unsafe snd_pcm_hw_params_malloc(&hardware)
        unsafe snd_pcm_sw_params_malloc(&software)
        defer {
            unsafe snd_pcm_hw_params_free(hardware)
            unsafe snd_pcm_sw_params_free(software)
        }
        let (period, buffer) = (snd_pcm_uframes_t(shape.period), snd_pcm_uframes_t(shape.buffer))
        try check(unsafe snd_pcm_hw_params_any(pcm, hardware), "any")
        try check(unsafe snd_pcm_hw_params_set_access(pcm, hardware, shape.access), "access")
        try check(unsafe snd_pcm_hw_params_set_format(pcm, hardware, shape.format), "format")
        try check(unsafe snd_pcm_hw_params_set_channels(pcm, hardware, shape.channels), "channels")
        try check(unsafe snd_pcm_hw_params_set_rate(pcm, hardware, shape.rate, 0), "rate")
        try check(unsafe snd_pcm_hw_params_set_period_size(pcm, hardware, period, 0), "period")
        try check(unsafe snd_pcm_hw_params_set_buffer_size(pcm, hardware, buffer), "buffer")
        try check(unsafe snd_pcm_hw_params(pcm, hardware), "hw_params")
        var boundary: snd_pcm_uframes_t = 0
        try check(unsafe snd_pcm_sw_params_current(pcm, software), "sw_params_current")
        try check(unsafe snd_pcm_sw_params_get_boundary(software, &boundary), "boundary")
        try check(unsafe snd_pcm_sw_params_set_start_threshold(pcm, software, boundary), "start_threshold")
        try check(
            unsafe snd_pcm_sw_params_set_avail_min(
                pcm, software, snd_pcm_uframes_t(shape.availableMinimum ?? shape.period)), "avail_min")
        try check(unsafe snd_pcm_sw_params(pcm, software), "sw_params")
    }

    @discardableResult
    private func check(_ code: Int32, _ call: String) throws(ALSAFailure) -> Int32 {
        if code < 0 { throw ALSAFailure(code, call) }
        return code
    }

    func prepare() throws(ALSAFailure) { try check(unsafe snd_pcm_prepare(pcm), "prepare") }
    func start() throws(ALSAFailure) { try check(unsafe snd_pcm_start(pcm), "start") }
    func drop() throws(ALSAFailure) { try check(unsafe snd_pcm_drop(pcm), "drop") }

    var state: snd_pcm_state_t { unsafe snd_pcm_state(pcm) }

    /// Plays what is queued to its end.
    func drain() throws(ALSAFailure) {
        while true {
            let code = unsafe snd_pcm_drain(pcm)
            if code != -EAGAIN {
                try check(code, "drain")
                return
            }
            try wait()
        }
    }

    func available() throws(ALSAFailure) -> Int {
        Int(try check(Int32(truncatingIfNeeded: unsafe snd_pcm_avail(pcm)), "avail"))
    }

    func delay() throws(ALSAFailure) -> Int {
        var frames: snd_pcm_sframes_t = 0
        try check(unsafe snd_pcm_delay(pcm, &frames), "delay")
        return frames
    }

    /// Waits until a period can be moved.
    func wait() throws(ALSAFailure) {
        if try check(unsafe snd_pcm_wait(pcm, Self.waitMilliseconds), "wait") == 0 {
            throw ALSAFailure(-ETIMEDOUT, "wait")
        }
    }

    /// What poll and libasound make of the stream's descriptor; nothing after the timeout.
    func pollEvents(milliseconds: Int32 = CardStream.waitMilliseconds) -> Int32 {
        var descriptor = pollfd()
        guard unsafe snd_pcm_poll_descriptors(pcm, &descriptor, 1) == 1 else { return 0 }
        guard unsafe poll(&descriptor, 1, milliseconds) == 1 else { return 0 }
        var events: UInt16 = 0
        _ = unsafe snd_pcm_poll_descriptors_revents(pcm, &descriptor, 1, &events)
        return Int32(events)
    }

    /// Reads `frames` frames as they come, waiting for whole periods.
    func read<Sample: Numeric>(_ frames: Int, as type: Sample.Type = Float.self) throws(ALSAFailure) -> [Sample] {
        var samples = [Sample](repeating: 0, count: frames * Int(shape.channels))
        try read(into: &samples)
        return samples
    }

    func read<Sample>(into samples: inout [Sample]) throws(ALSAFailure) {
        let channels = Int(shape.channels)
        var done = 0
        while done < samples.count / channels {
            try waitForPeriod(upTo: samples.count / channels - done)
            let wanted = snd_pcm_uframes_t(samples.count / channels - done)
            let moved = unsafe samples.withUnsafeMutableBufferPointer { buffer -> snd_pcm_sframes_t in
                guard let base = buffer.baseAddress else { return 0 }
                let at = unsafe base + done * channels
                return shape.access == SND_PCM_ACCESS_RW_INTERLEAVED
                    ? unsafe snd_pcm_readi(pcm, at, wanted) : unsafe snd_pcm_mmap_readi(pcm, at, wanted)
            }
            if moved == -snd_pcm_sframes_t(EAGAIN) { continue }
            done += Int(try check(Int32(truncatingIfNeeded: moved), "readi"))
        }
    }

    /// Writes all of `samples` as there is room, waiting for whole periods.
    func write<Sample>(_ samples: [Sample]) throws(ALSAFailure) {
        let channels = Int(shape.channels)
        var done = 0
        while done < samples.count / channels {
            try waitForPeriod(upTo: samples.count / channels - done)
            let left = snd_pcm_uframes_t(samples.count / channels - done)
            let moved = unsafe samples.withUnsafeBufferPointer { buffer -> snd_pcm_sframes_t in
                guard let base = buffer.baseAddress else { return 0 }
                let at = unsafe base + done * channels
                return shape.access == SND_PCM_ACCESS_RW_INTERLEAVED
                    ? unsafe snd_pcm_writei(pcm, at, left) : unsafe snd_pcm_mmap_writei(pcm, at, left)
            }
            if moved == -snd_pcm_sframes_t(EAGAIN) { continue }
            done += Int(try check(Int32(truncatingIfNeeded: moved), "writei"))
        }
    }

    private func waitForPeriod(upTo frames: Int) throws(ALSAFailure) {
        let state = unsafe snd_pcm_state(pcm)
        if state == SND_PCM_STATE_PREPARED { return }
        if try available() < min(frames, shape.period) { try wait() }
    }
}

extension CardStream {
    /// Waits for the buffer to run empty: the next wait is for all of it.
    func starve() throws(ALSAFailure) {
        var software: OpaquePointer?
        unsafe snd_pcm_sw_params_malloc(&software)
        defer { unsafe snd_pcm_sw_params_free(software) }
        _ = unsafe snd_pcm_sw_params_current(pcm, software)
        _ = unsafe snd_pcm_sw_params_set_avail_min(pcm, software, snd_pcm_uframes_t(shape.buffer))
        let code = unsafe snd_pcm_sw_params(pcm, software)
        if code < 0 { throw ALSAFailure(code, "sw_params") }
    }
}

extension CardStream {
    /// What to poll, for a program that asks for it only once.
    var descriptor: pollfd {
        var descriptor = pollfd()
        _ = unsafe snd_pcm_poll_descriptors(pcm, &descriptor, 1)
        return descriptor
    }

    /// Polls descriptors that were asked for long ago. Which streams have something to do.
    static func pollKept(_ streams: [CardStream], _ descriptors: [pollfd]) throws(ALSAFailure) -> [Bool] {
        var descriptors = descriptors
        let count = unsafe poll(&descriptors, nfds_t(descriptors.count), waitMilliseconds)
        if count <= 0 { throw ALSAFailure(-ETIMEDOUT, "poll") }
        var ready: [Bool] = []
        for (stream, var descriptor) in zip(streams, descriptors) {
            var events: UInt16 = 0
            let code = unsafe snd_pcm_poll_descriptors_revents(stream.pcm, &descriptor, 1, &events)
            if code < 0 { throw ALSAFailure(code, "revents") }
            ready.append(events != 0)
        }
        return ready
    }
}
