/// Which generation of its stream a packet is of, and where in which utterance it lies: the data of an element of its
/// header extension (RFC 8285).
///
///     1 byte:  generation, its lowest 8 bits
///     9 bytes: the same, utterance (4), position of the packet's first frame in it in frames of 48 kHz (4)
///
/// A stream's generation rises when it is interrupted, so that what was said before is told from what is said after.
/// The short form fits into the padding behind an audio level (RFC 6464): it costs nothing.
package struct SpeechOrigin: Equatable, Sendable, BitwiseCopyable {
    /// A place in an utterance.
    package struct Place: Equatable, Sendable, BitwiseCopyable {
        /// The number that the talker has given the utterance.
        package var utterance: UInt32
        /// Frames of 48 kHz from its beginning.
        package var position: UInt32

        /// A place in an utterance.
        package init(utterance: UInt32, position: UInt32) {
            self.utterance = utterance
            self.position = position
        }
    }

    /// The lowest eight bits of the generation.
    package var generation: UInt8
    /// Where in an utterance; nil where the packet is of none.
    package var place: Place?

    private static let shortForm = 1
    private static let longForm = 9

    /// The origin of a packet.
    package init(generation: UInt8, place: Place? = nil) {
        self.generation = generation
        self.place = place
    }

    /// Reads an element's data; nil where it has neither length.
    init?(data: Span<UInt8>) {
        guard data.count == Self.shortForm || data.count == Self.longForm else { return nil }
        generation = data[0]
        if data.count == Self.longForm {
            place = Place(utterance: data.loadUInt32(at: 1), position: data.loadUInt32(at: 5))
        }
    }

    /// Bytes of the element's data.
    var byteCount: Int { place == nil ? Self.shortForm : Self.longForm }

    /// Writes the element's data; the span was checked to hold it.
    func write(into datagram: inout MutableSpan<UInt8>, at offset: Int) {
        datagram[offset] = generation
        guard let place else { return }
        datagram.store(place.utterance, at: offset + 1)
        datagram.store(place.position, at: offset + 5)
    }
}

extension HeaderExtensions {
    /// The origin that the session signalled under this id, or nil when the packet carries none, or one of another
    /// length.
    package func speechOrigin(id: UInt8) -> SpeechOrigin? {
        guard let data = data(of: id) else { return nil }
        return SpeechOrigin(data: data)
    }
}

extension RTPPacket {
    /// The origin that the session signalled under this id, or nil when the packet carries none, or one of another
    /// length.
    package func speechOrigin(id: UInt8) -> SpeechOrigin? { headerExtensions.speechOrigin(id: id) }
}
