internal import Synchronization

/// Keeps a port while no device has it, and gets it back when the device lets it go: so one pair of rings serves one
/// device after the other.
///
/// A lent port returns by itself when it is destroyed, wherever that happens: in `stop()`, in a start that failed, or
/// much later, when a thread that hung in a driver ends at last. Until then nobody else can have it, which is what
/// keeps the rings at one writer. Any thread may call; nothing here is real-time safe.
package final class PortDock<Port: ~Copyable & Sendable>: Sendable {
    private let port: Mutex<Port?>

    private init(keeping port: consuming sending Port) { self.port = Mutex(port) }

    /// Whether the port is here and can be lent.
    package var isHome: Bool { port.withLock { $0 != nil } }

    fileprivate func take() -> Port? { port.withLock { $0.take() } }

    func takeBack(_ returned: consuming sending Port) {
        // A closure cannot consume what it captures, so the port goes in through an optional.
        var returned: Port? = returned
        port.withLock { $0 = returned.take() }
    }
}

extension PortDock where Port == CapturePort {
    /// A dock for `port`.
    package convenience init(_ port: consuming sending CapturePort) { self.init(keeping: port) }

    /// The port, to be given to a device; nil while another still has it. Nothing is known of the device's clock then.
    package func lend() -> CapturePort? {
        guard var port = take() else { return nil }
        port.dock = self
        port.counters.capture.forgetDevice()
        return port
    }
}

extension PortDock where Port == PlaybackPort {
    /// A dock for `port`.
    package convenience init(_ port: consuming sending PlaybackPort) { self.init(keeping: port) }

    /// The port, to be given to a device; nil while another still has it. What it renders first fades in, since another
    /// device played what came before; nothing is known of the device's clock and queue then.
    package func lend() -> PlaybackPort? {
        guard var port = take() else { return nil }
        port.dock = self
        port.counters.playback.forgetDevice()
        return port
    }
}
