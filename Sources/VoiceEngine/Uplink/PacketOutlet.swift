internal import VoiceRealtime

/// The media thread's end of the way to the network: where packets are written, and what is told of them.
struct PacketOutlet: ~Copyable {
    private var sending: PacketProducer
    private let networkWake: WakeHandle
    private let watch: StageWatch?

    init(sending: consuming PacketProducer, networkWake: WakeHandle, watch: StageWatch? = nil) {
        self.sending = sending
        self.networkWake = networkWake
        self.watch = watch
    }

    /// The next slot of the send ring; empty where that is full.
    @_lifetime(&self)
    mutating func acquire() -> MutableSpan<UInt8> { sending.acquire() }

    /// Hands the packet in the acquired slot to the network thread, which protects it in place.
    mutating func handOver(length: Int, time: MonotonicTime) {
        watch?.send(sending.acquired(length))
        sending.commit(length: length, tag: PacketTag(time: time))
        networkWake.signal()
    }

    /// How many packets the network thread has taken.
    var takenPackets: Int { sending.takenPackets }
}
