extension PlayoutBuffer {
    /// Decodes a packet that waits to the front of `room`; returns its frames, or nil if the decoder refused.
    static func decode<Decoder: SpeechDecoder & ~Copyable>(
        _ sequence: Int64, of store: borrowing PacketStore, into room: inout SoundStorage, _ decoder: inout Decoder
    ) -> Int? {
        do {
            var span = room.mutableSpan(0..<room.capacity)
            return try decoder.decode(store.payload(sequence), into: &span)
        } catch {
            return nil
        }
    }

    /// Decodes the redundancy of a packet that waits to the front of `room`; returns the frames, or nil.
    static func decodeRedundancy<Decoder: SpeechDecoder & ~Copyable>(
        _ sequence: Int64, of store: borrowing PacketStore, frames: Int, into room: inout SoundStorage,
        _ decoder: inout Decoder
    ) -> Int? {
        do {
            var span = room.mutableSpan(0..<frames)
            return try decoder.decodeRedundancy(of: store.payload(sequence), into: &span)
        } catch {
            return nil
        }
    }
}
