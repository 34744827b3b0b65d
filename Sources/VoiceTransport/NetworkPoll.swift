internal import CLinuxRealtime
internal import VoiceRealtime

/// Sleeps until one of a few descriptors has input, or a time has come.
struct NetworkPoll: ~Copyable {
    private let poll: Int32

    init?() {
        poll = dv_poll_create()
        guard poll >= 0 else { return nil }
    }

    deinit { dv_poll_close(poll) }

    /// Watches a descriptor as bit 1 << tag of `wait`'s answer. False when the system refuses.
    func add(_ descriptor: Int32, tag: Int) -> Bool { dv_poll_add(poll, descriptor, Int32(tag)) == 0 }

    func remove(_ descriptor: Int32) { dv_poll_remove(poll, descriptor) }

    /// Waits until `deadline` at most, for ever when nil. The bits of what is ready.
    func wait(until deadline: Duration?) -> UInt32 {
        guard let deadline else { return dv_poll_wait(poll, -1) }
        let left = deadline - MonotonicTime.now().sinceEpoch
        // 60 s: dv_poll_wait sleeps no longer anyway.
        let parts = min(max(left, .zero), .seconds(60)).components
        return dv_poll_wait(poll, parts.seconds * 1_000_000_000 + parts.attoseconds / 1_000_000_000)
    }
}
