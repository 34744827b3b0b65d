internal import CLinuxRealtime
internal import Glibc
internal import VoicePeers
internal import VoiceRealtime
internal import VoiceRooms

/// Finds the addresses of a host while the network thread stays free. One owner.
@safe
final class HostResolution {
    private let resolution: OpaquePointer
    private let host: String

    /// Begins to look a name up, on a thread of its own.
    init(of host: String, port: UInt16) throws(RoomClientEnd) {
        guard let started = unsafe dv_resolution_start(host, port) else { throw .system(errno: errno) }
        unsafe resolution = started
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
        let resolution = try HostResolution(of: host, port: port)
        return try resolution.wait(timeout: timeout, wake: wake, stop: stop, isToLeave: isToLeave)
    }

    /// Readable when it has ended.
    var descriptor: Int32 { unsafe dv_resolution_descriptor(resolution) }

    /// What came of it; nil while it goes on.
    var outcome: Result<[EndpointAddress], RoomClientEnd>? {
        var addresses = [dv_address](repeating: dv_address(), count: Int(DV_ADDRESS_LIMIT))
        switch unsafe dv_resolution_result(resolution, &addresses) {
        case let count where count > 0: return .success(addresses.prefix(Int(count)).map { EndpointAddress($0) })
        case 0: return nil
        case -1: return .failure(.unknownHost(host))
        default: return .failure(.nameServiceUnavailable(host))
        }
    }

    private func poll(_ wake: WakeSignal) throws(RoomClientEnd) -> NetworkPoll {
        do throws(ThreadError) {
            let poll = try NetworkPoll()
            try poll.add(descriptor, as: .source)
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
            switch outcome {
            case .success(let addresses): return addresses
            case .failure(let error): throw error
            case nil: continue
            }
        }
        throw .nameServiceUnavailable(host)
    }
}
