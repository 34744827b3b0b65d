import Glibc
import Synchronization

/// An address of this machine and a port for one server of a test: while that is down, nobody else comes to be there.
///
/// The address is the process's own, and the port below those that Linux gives to whoever asks for any (32,768 and up).
public struct LoopbackPlace: Sendable {
    /// The numeric address, of 127.64.0.0/10.
    public let host: String
    /// The UDP port.
    public let port: UInt16

    /// Places so far.
    private static let count = Atomic<UInt16>(0)
    private static let firstPort: UInt16 = 20_000
    private static let ports: UInt16 = 10_000

    /// A place that nobody has had.
    public init() {
        // Of 22 bits.
        let process = getpid()
        host = "127.\(64 + ((process >> 16) & 63)).\((process >> 8) & 255).\(process & 255)"
        port = Self.firstPort + Self.count.wrappingAdd(1, ordering: .relaxed).oldValue % Self.ports
    }
}
