internal import VoiceRealtime

/// What is counted of the packets that a stream is sent in. One writer, the media thread.
struct SenderStatistics: BitwiseCopyable, Sendable {
    var packetsSent = 0
    var bytesSent = 0
    /// Packets that could not be sent because the send ring was full or the codec failed.
    var packetsDropped = 0
    /// Bytes of the copies in the packets sent (RFC 2198), headers included.
    var copyBytesSent = 0
    /// How packets are made now.
    var plan: SenderPlan?
    var codecLookaheadFrames = 0
    /// Frames that the device lost before the capture ring, by its timestamps.
    var captureGapFrames = 0
    /// From the ADC of a packet's last frame to the run that sends it.
    var capture = SmoothedNanoseconds()
    /// From the ADC of a packet's first frame to that of its end.
    var frame = SmoothedNanoseconds()
    /// From the beginning of the run to the packet's being sent.
    var encoding = SmoothedNanoseconds()

    /// Counts a packet whose frames were at the ADC from `first` to `end`, and which was made in the run of `clock`.
    mutating func countSent(
        _ packet: SentPacket, from first: MonotonicTime, to end: MonotonicTime, frames: Int, clock: RunClock
    ) {
        packetsSent += 1
        bytesSent += packet.byteCount
        copyBytesSent += packet.copyBytes
        capture.note(clock.start.nanoseconds - end.nanoseconds, frames: frames)
        frame.note(end.nanoseconds - first.nanoseconds, frames: frames)
        encoding.note(clock.now.nanoseconds - clock.start.nanoseconds, frames: frames)
    }
}
