import COpus

/// An Opus decoder for mono speech at 48 kHz, with concealment and two saved states to go back to.
///
/// One thread at a time. Never blocks and allocates nothing after `init`. Source: RFC 6716, libopus.
@safe package struct OpusDecoder: ~Copyable, @unchecked Sendable {
    /// A packet never holds more: 120 ms (RFC 6716, section 3.2.5).
    package static let maximumFrames = 5760
    /// Concealed and recovered sound comes in multiples of this: 2.5 ms.
    package static let concealmentGrainFrames = 120

    /// States that can be saved at the same time.
    package static let savedStates = 2

    /// The state in use, followed by the saved ones. libopus keeps no pointers into its own state, so that a copy of
    /// the bytes is a copy of the decoder.
    private let states: UnsafeMutableRawPointer
    private let stateBytes: Int
    private var isSaved = InlineArray<2, Bool>(repeating: false)

    /// Creates a decoder.
    ///
    /// - Throws: ``OpusError/libraryFault(code:)`` when libopus refuses.
    package init() throws(OpusError) {
        stateBytes = (Int(opus_decoder_get_size(1)) + 15) & ~15
        unsafe states = .allocate(byteCount: (1 + Self.savedStates) * stateBytes, alignment: 16)
        let code = unsafe opus_decoder_init(OpaquePointer(states), Int32(OpusEncoder.sampleRate), 1)
        guard code == OPUS_OK else {
            unsafe states.deallocate()
            throw OpusError(code: code)
        }
    }

    deinit { unsafe states.deallocate() }

    private var state: OpaquePointer { unsafe OpaquePointer(states) }

    /// Decodes a packet and returns its frames.
    ///
    /// - Parameter sound: Room for the packet's sound; ``maximumFrames`` fits every packet. Peaks may exceed ±1.
    /// - Throws: ``OpusError/malformedPacket``, or ``OpusError/invalidLength(_:)`` when the sound does not fit.
    package mutating func decode(
        _ packet: Span<UInt8>, into sound: inout MutableSpan<Float>
    ) throws(OpusError) -> Int {
        let needed = try Self.frames(in: packet)
        guard sound.count >= needed else { throw .invalidLength(.output(frames: sound.count, needed: needed)) }
        return try run(packet, into: &sound, redundancy: false)
    }

    /// Decodes the coarser copy that a packet carries of the sound just before it (in-band FEC).
    ///
    /// What the copy does not cover is concealed, all of it if the packet carries none.
    /// - Parameters:
    ///   - next: The packet that follows the lost sound.
    ///   - sound: As long as the lost sound: a multiple of ``concealmentGrainFrames``; it is filled.
    /// - Throws: ``OpusError/malformedPacket`` or ``OpusError/invalidLength(_:)``.
    package mutating func decodeRedundancy(
        of next: Span<UInt8>, into sound: inout MutableSpan<Float>
    ) throws(OpusError) -> Int {
        try Self.checkConcealment(frames: sound.count)
        _ = try Self.frames(in: next)
        return try run(next, into: &sound, redundancy: true)
    }

    /// Continues the sound where nothing is known, and returns the frames: all of `sound`.
    ///
    /// - Parameter sound: A multiple of ``concealmentGrainFrames`` up to ``maximumFrames``; it is filled.
    /// - Throws: ``OpusError/invalidLength(_:)``.
    package mutating func conceal(into sound: inout MutableSpan<Float>) throws(OpusError) -> Int {
        try Self.checkConcealment(frames: sound.count)
        let state = unsafe state
        let written = unsafe sound.withUnsafeMutableBufferPointer { sound in
            guard let output = sound.baseAddress else { return OPUS_BUFFER_TOO_SMALL }
            return unsafe opus_decode_float(state, nil, 0, output, Int32(sound.count), 0)
        }
        guard written >= 0 else { throw OpusError(code: written) }
        return Int(written)
    }

    /// Forgets all sound so far, and the saved states.
    package mutating func reset() {
        _ = unsafe opus_decoder_reset(state)
        isSaved = InlineArray(repeating: false)
    }

    /// Keeps a copy of the state, to which ``restoreState(from:)`` goes back; it replaces the copy kept there before.
    ///
    /// - Parameter place: Below ``savedStates``.
    package mutating func saveState(at place: Int) {
        unsafe saved(place).copyMemory(from: states, byteCount: stateBytes)
        isSaved[place] = true
    }

    /// Goes back to the state last saved at a place, as often as wanted; without one, nothing happens.
    package mutating func restoreState(from place: Int) {
        guard isSaved[place] else { return }
        unsafe states.copyMemory(from: saved(place), byteCount: stateBytes)
    }

    private func saved(_ place: Int) -> UnsafeMutableRawPointer {
        precondition(place >= 0 && place < Self.savedStates)
        return unsafe states + (1 + place) * stateBytes
    }

    /// Frames of 48 kHz that a packet holds.
    ///
    /// - Throws: ``OpusError/malformedPacket``. A packet that passes may still fail to decode.
    package static func frames(in packet: Span<UInt8>) throws(OpusError) -> Int {
        guard !packet.isEmpty else { throw .malformedPacket }
        let bytes = Int32(clamping: packet.count)
        let frames = unsafe packet.withUnsafeBufferPointer { packet in
            guard let packet = packet.baseAddress else { return Int32(0) }
            return unsafe opus_packet_get_nb_samples(packet, bytes, Int32(OpusEncoder.sampleRate))
        }
        guard frames > 0 else { throw .malformedPacket }
        return Int(frames)
    }

    private static func checkConcealment(frames: Int) throws(OpusError) {
        guard frames > 0, frames <= maximumFrames, frames % concealmentGrainFrames == 0 else {
            throw .invalidLength(.concealment(frames: frames))
        }
    }

    private mutating func run(
        _ packet: Span<UInt8>, into sound: inout MutableSpan<Float>, redundancy: Bool
    ) throws(OpusError) -> Int {
        let state = unsafe state
        let written = unsafe packet.withUnsafeBufferPointer { packet in
            unsafe sound.withUnsafeMutableBufferPointer { sound in
                guard let output = sound.baseAddress else { return OPUS_BUFFER_TOO_SMALL }
                return unsafe opus_decode_float(
                    state, packet.baseAddress, Int32(clamping: packet.count), output, Int32(sound.count),
                    redundancy ? 1 : 0)
            }
        }
        guard written >= 0 else { throw OpusError(code: written) }
        return Int(written)
    }
}
