/// The network's ends of the packet rings between the media thread and the network, and the signal that there is
/// something to send.
///
/// Held by reference, so that one network thread after another can use it; at any time only one thread may.
public final class PacketLink: @unchecked Sendable {
    /// Datagrams from the network, each with its time of arrival.
    public var received: PacketProducer
    /// Datagrams to the network, each with the time at which it was made.
    public var sending: PacketConsumer
    /// Signalled by the media thread after each packet that it puts into ``sending``.
    public let wake: WakeSignal

    /// A link over these ring ends.
    public init(received: consuming PacketProducer, sending: consuming PacketConsumer, wake: WakeSignal) {
        self.received = received
        self.sending = sending
        self.wake = wake
    }
}
