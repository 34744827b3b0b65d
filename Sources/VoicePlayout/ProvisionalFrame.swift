/// Sound that was put into the queue in place of a packet which may still come while it is played.
///
/// It was restored from a copy, or concealed. Where the packet comes before the next one is decoded, the decoder goes
/// back and takes it, so that what follows is decoded from the sender's true state, and what of the sound is not yet
/// played is led over to the packet's own.
struct ProvisionalFrame: BitwiseCopyable {
    /// The packet.
    let sequence: Int64
    /// Where its sound ends on the media timeline; the queue's piece ends there too.
    let end: Int64
    let frames: Int
    /// Whether the packet has come, and waits in the store.
    var hasCome = false

    /// Whether a packet is the one, and of the length that was expected.
    func standsFor(_ place: StreamTimeline.Place, _ framing: OpusFraming) -> Bool {
        place.sequence == sequence && framing.frames == frames && place.position + Int64(frames) == end && !hasCome
    }
}
