import COpus

/// An Opus encoder for mono speech at 48 kHz.
///
/// One thread at a time. Never blocks and allocates nothing after `init`; not real-time safe in the strict sense,
/// because libopus takes up to a few milliseconds of CPU for a packet at high complexity. Source: RFC 6716, libopus.
@safe package struct OpusEncoder: ~Copyable, @unchecked Sendable {
    /// A packet never needs more bytes (`opus_encode`: the recommended size of the output buffer).
    package static let maximumPacketBytes = 4000
    /// Sample rate of the sound, hertz.
    package static let sampleRate = 48_000

    /// What this encoder optimises for.
    package let application: OpusApplication
    /// The settings in force.
    package private(set) var settings: OpusEncoderSettings
    private let state: OpaquePointer

    /// Creates an encoder.
    ///
    /// - Throws: ``OpusError/invalidSetting(_:)`` for a setting out of range, ``OpusError/outOfMemory``, or
    ///   ``OpusError/libraryFault(code:)``.
    package init(application: OpusApplication = .voip, settings: OpusEncoderSettings = .voice) throws(OpusError) {
        try settings.validate()
        var code: Int32 = OPUS_OK
        let created = unsafe opus_encoder_create(Int32(Self.sampleRate), 1, application.request, &code)
        guard let created = unsafe created, code == OPUS_OK else { throw OpusError(code: code) }
        code = unsafe Self.configure(created, settings)
        guard code == OPUS_OK else {
            unsafe opus_encoder_destroy(created)
            throw OpusError(code: code)
        }
        self.application = application
        self.settings = settings
        unsafe self.state = created
    }

    deinit { unsafe opus_encoder_destroy(state) }

    /// Frames by which the decoded sound lags the encoded: what the encoder looks ahead, 312 (voip) or 120 (low delay).
    package var lookaheadFrames: Int {
        var frames: Int32 = 0
        _ = unsafe opus_encoder_get(state, OPUS_GET_LOOKAHEAD_REQUEST, &frames)
        return Int(frames)
    }

    /// Puts other settings in force from the next packet on, without a gap in the sound.
    ///
    /// - Throws: ``OpusError/invalidSetting(_:)``; the old settings then stay.
    package mutating func apply(_ new: OpusEncoderSettings) throws(OpusError) {
        try new.validate()
        let code = unsafe Self.configure(state, new)
        guard code == OPUS_OK else { throw OpusError(code: code) }
        settings = new
    }

    /// Encodes one packet and returns its length in bytes.
    ///
    /// - Parameters:
    ///   - block: `settings.frameDuration.frames` frames, full scale ±1. What is not finite is encoded as silence.
    ///   - packet: Room for the packet; ``maximumPacketBytes`` always suffices, less lowers the bit rate.
    /// - Throws: ``OpusError/invalidLength(_:)`` for another block length or a packet of no bytes, or
    ///   ``OpusError/libraryFault(code:)``.
    package mutating func encode(
        _ block: Span<Float>, into packet: inout MutableSpan<UInt8>
    ) throws(OpusError) -> Int {
        let expected = settings.frameDuration.frames
        guard block.count == expected else {
            throw .invalidLength(.block(frames: block.count, expected: expected))
        }
        let room = packet.count
        guard room > 0 else { throw .invalidLength(.packet(bytes: room)) }
        let state = unsafe state
        let written = unsafe block.withUnsafeBufferPointer { sound in
            unsafe packet.withUnsafeMutableBufferPointer { bytes in
                guard let sound = sound.baseAddress, let bytes = bytes.baseAddress else {
                    return OPUS_BUFFER_TOO_SMALL
                }
                return unsafe opus_encode_float(state, sound, Int32(expected), bytes, Int32(clamping: room))
            }
        }
        guard written != OPUS_BUFFER_TOO_SMALL else { throw .invalidLength(.packet(bytes: room)) }
        guard written >= 0 else { throw OpusError(code: written) }
        return Int(written)
    }

    /// Forgets all sound so far; the settings stay.
    package mutating func reset() { _ = unsafe opus_encoder_reset(state) }

    /// Hands valid settings to libopus; returns the first code that is not `OPUS_OK`.
    private static func configure(_ state: OpaquePointer, _ settings: OpusEncoderSettings) -> Int32 {
        let requests: InlineArray<6, (request: Int32, value: Int)> = [
            (OPUS_SET_BITRATE_REQUEST, settings.bitratePerSecond),
            (OPUS_SET_COMPLEXITY_REQUEST, settings.complexity),
            (OPUS_SET_INBAND_FEC_REQUEST, settings.usesForwardErrorCorrection ? 1 : 0),
            (OPUS_SET_PACKET_LOSS_PERC_REQUEST, settings.expectedLossPercent),
            (OPUS_SET_DTX_REQUEST, settings.usesDiscontinuousTransmission ? 1 : 0),
            (OPUS_SET_SIGNAL_REQUEST, Int(OPUS_SIGNAL_VOICE)),
        ]
        for index in requests.indices {
            let code = unsafe opus_encoder_set(state, requests[index].request, Int32(requests[index].value))
            guard code == OPUS_OK else { return code }
        }
        return OPUS_OK
    }
}

extension OpusApplication {
    /// The application as libopus names it.
    fileprivate var request: Int32 {
        switch self {
        case .voip: OPUS_APPLICATION_VOIP
        case .music: OPUS_APPLICATION_AUDIO
        case .lowDelay: OPUS_APPLICATION_RESTRICTED_LOWDELAY
        }
    }
}

extension OpusError {
    /// The error that stands for a negative code of libopus.
    init(code: Int32) {
        switch code {
        case OPUS_ALLOC_FAIL: self = .outOfMemory
        case OPUS_INVALID_PACKET: self = .malformedPacket
        default: self = .libraryFault(code: code)
        }
    }
}
