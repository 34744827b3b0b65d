internal import CLinuxRealtime
internal import VoiceRealtime

/// Sleeps until one of a few descriptors has input, or a time has come.
struct NetworkPoll: ~Copyable {
    private let poll: Int32

    init() throws(ThreadError) {
        poll = dv_poll_create()
        guard poll >= 0 else { throw .refused(errno: -poll) }
    }

    deinit { dv_poll_close(poll) }

    /// What has input.
    struct Ready: OptionSet {
        let rawValue: UInt32

        /// The socket, or whatever else is waited for.
        static let source = Ready(rawValue: 1)
        /// The signal that wakes the thread.
        static let wake = Ready(rawValue: 2)
        /// A look-up that has ended.
        static let lookUp = Ready(rawValue: 4)
    }

    /// Watches a descriptor, of which `wait` says that it is `part`.
    func add(_ descriptor: Int32, as part: Ready) throws(ThreadError) {
        let status = dv_poll_add(poll, descriptor, Int32(part.rawValue.trailingZeroBitCount))
        guard status == 0 else { throw .refused(errno: -status) }
    }

    func remove(_ descriptor: Int32) { dv_poll_remove(poll, descriptor) }

    /// Waits until `deadline` at most, for ever when nil.
    func wait(until deadline: Duration?) -> Ready {
        guard let deadline else { return Ready(rawValue: dv_poll_wait(poll, -1)) }
        let left = deadline - MonotonicTime.now().sinceEpoch
        // 60 s: dv_poll_wait sleeps no longer anyway.
        return Ready(rawValue: dv_poll_wait(poll, min(max(left, .zero), .seconds(60)).nanoseconds))
    }
}

extension ThreadError {
    /// The system's word for it (`errno`).
    var number: Int32 {
        switch self {
        case .refused(let number): number
        }
    }
}

extension RoomClientEnd {
    init(_ error: ThreadError) { self = .system(errno: error.number) }
}
