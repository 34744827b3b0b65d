/// What the playout buffer asks of a codec at 48 kHz, mono.
///
/// The buffer calls it once or twice a packet on the thread that pulls, through a witness table: a few nanoseconds
/// against tens of microseconds of decoding. A conforming type allocates and blocks nowhere.
package protocol SpeechDecoder: ~Copyable {
    /// Why a packet could not be decoded; the buffer counts it and conceals the packet.
    associatedtype DecodingError: Error

    /// Decodes a packet and returns its frames.
    ///
    /// - Parameter sound: Room for 120 ms, 5760 frames.
    mutating func decode(_ packet: Span<UInt8>, into sound: inout MutableSpan<Float>) throws(DecodingError) -> Int

    /// Decodes the copy that a packet carries of the sound just before it, and returns the frames: all of `sound`.
    ///
    /// - Parameter sound: As long as the lost sound, a multiple of 120 frames.
    mutating func decodeRedundancy(
        of next: Span<UInt8>, into sound: inout MutableSpan<Float>
    ) throws(DecodingError) -> Int

    /// Continues the sound where nothing is known, and returns the frames: all of `sound`.
    ///
    /// - Parameter sound: A multiple of 120 frames up to 5760.
    mutating func conceal(into sound: inout MutableSpan<Float>) throws(DecodingError) -> Int

    /// Forgets all sound so far: another stream begins.
    mutating func reset()

    /// Keeps a copy of the state, so that sound can be made up while it is unknown what it stands for; it replaces what
    /// that place held.
    ///
    /// - Parameter place: 0 or 1.
    mutating func saveState(at place: Int)

    /// Goes back to the state that was last saved at a place, 0 or 1.
    mutating func restoreState(from place: Int)
}

/// What the decoder's saved states are for.
enum SavedState {
    /// The true state, while sound is made up or looked at ahead of its time.
    static let beforeGuess = 0
    /// That before the sound that stands in for a packet which may still come.
    static let beforeProvisional = 1
}
