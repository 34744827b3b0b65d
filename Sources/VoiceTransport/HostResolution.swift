internal import CLinuxRealtime
internal import Glibc
internal import VoicePeers
internal import VoiceRealtime
internal import VoiceRooms

/// Finds the addresses of a host while the network thread stays free to stop.
@safe
struct HostResolution: ~Copyable {
    private let resolution: OpaquePointer
    private let host: String

    private init(_ resolution: OpaquePointer, host: String) {
        unsafe self.resolution = resolution
        self.host = host
    }

    deinit { unsafe dv_resolution_release(resolution) }

    /// The addresses of a host, at least one, in the order in which to try them (RFC 6724); a numeric one at once, those
    /// of a name after at most `timeout`. Ends at once where `isToLeave` says so, which is asked at each wake-up.
    static func addresses(
        of host: String, port: UInt16, timeout: Duration, wake: WakeSignal, stop: borrowing StopFlag,
        isToLeave: () -> Bool
    ) throws(RoomClientEnd) -> [EndpointAddress] {
        if let address = EndpointAddress(numeric: host, port: port) { return [address] }
        guard let started = unsafe dv_resolution_start(host, port) else { throw .system(errno: errno) }
        let resolution = unsafe HostResolution(started, host: host)
        return try resolution.wait(timeout: timeout, wake: wake, stop: stop, isToLeave: isToLeave)
    }

    private func poll(_ wake: WakeSignal) throws(RoomClientEnd) -> NetworkPoll {
        do throws(ThreadError) {
            let poll = try NetworkPoll()
            try unsafe poll.add(dv_resolution_descriptor(resolution), as: .source)
            try poll.add(wake.fileDescriptor, as: .wake)
            return poll
        } catch {
            throw RoomClientEnd(error)
        }
    }

    private func wait(
        timeout: Duration, wake: WakeSignal, stop: borrowing StopFlag, isToLeave: () -> Bool
    ) throws(RoomClientEnd) -> [EndpointAddress] {
        let poll = try poll(wake)
        let deadline = MonotonicTime.now().sinceEpoch + timeout
        while MonotonicTime.now().sinceEpoch < deadline {
            if stop.isRaised { throw .stopped }
            if isToLeave() { throw .session(.left(acknowledged: false)) }
            if poll.wait(until: deadline).contains(.wake) { wake.wait(timeout: .zero) }
            var addresses = [dv_address](repeating: dv_address(), count: Int(DV_ADDRESS_LIMIT))
            switch unsafe dv_resolution_result(resolution, &addresses) {
            case let count where count > 0: return addresses.prefix(Int(count)).map { EndpointAddress($0) }
            case -1: throw .unknownHost(host)
            case -2: throw .nameServiceUnavailable(host)
            default: continue
            }
        }
        throw .nameServiceUnavailable(host)
    }
}
