internal import VoiceWire

/// What the playout has to know of an Opus packet before it decodes it.
struct OpusFraming: Equatable, BitwiseCopyable {
    /// Frames of 48 kHz in the packet: 120 (2.5 ms) to 5760 (120 ms).
    let frames: Int
    /// Frames of 48 kHz before the packet of which it carries a copy (in-band FEC), or 0.
    let redundantFrames: Int
    /// Whether the sender says with it that nothing follows for a while (discontinuous transmission).
    let announcesSilence: Bool

    /// A packet of at most this many bytes stands for silence (RFC 6716, section 2.1.9; libopus sends 1 or 2).
    private static let silenceBytes = 2

    /// The framing of a slot that holds no packet.
    static let none = OpusFraming(frames: Frames.grain, redundantFrames: 0, announcesSilence: false)

    private init(frames: Int, redundantFrames: Int, announcesSilence: Bool) {
        self.frames = frames
        self.redundantFrames = redundantFrames
        self.announcesSilence = announcesSilence
    }

    /// Nil when the bytes cannot be an Opus packet.
    init?(_ packet: Span<UInt8>) {
        do {
            let header = try OpusPacketHeader(parsing: packet)
            frames = header.duration
            // A decoder restores one coded frame's time from the first coded frame of the packet.
            redundantFrames = header.carriesRedundancy ? header.codedFrameDuration : 0
            announcesSilence = packet.count <= Self.silenceBytes
        } catch {
            return nil
        }
    }
}
