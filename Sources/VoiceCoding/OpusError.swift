/// What went wrong in the codec, grouped by what the caller can do about it.
package enum OpusError: Error, Equatable, Sendable {
    /// A setting is out of range. Correct the configuration; the encoder keeps its old settings.
    case invalidSetting(OpusSettingFault)
    /// A block or span has a length that the codec cannot work with. Pass one of the lengths that the message states.
    case invalidLength(OpusLengthFault)
    /// The packet is not Opus. Drop it, and conceal the sound it would have carried; the decoder's state is unharmed.
    case malformedPacket
    /// There is no memory for the codec's state. Free some, then create the codec again.
    case outOfMemory
    /// libopus reports a fault of its own. Call `reset()`; if it comes back, the library is broken: replace it.
    case libraryFault(code: Int32)
}

/// The setting that is out of range, with the value that was given.
package enum OpusSettingFault: Equatable, Sendable {
    case bitrate(perSecond: Int)
    case complexity(Int)
    case expectedLoss(percent: Int)
}

/// The length that does not fit, in frames of 48 kHz or bytes, with what was given.
package enum OpusLengthFault: Equatable, Sendable {
    /// The block to encode must hold exactly one packet's sound.
    case block(frames: Int, expected: Int)
    /// Concealed or recovered sound comes in multiples of 2.5 ms (120 frames), up to 120 ms (5760 frames).
    case concealment(frames: Int)
    /// The span for the decoded sound is shorter than the packet's sound.
    case output(frames: Int, needed: Int)
    /// The span for the packet is too short for one at this bit rate; `OpusEncoder.maximumPacketBytes` always suffices.
    case packet(bytes: Int)
}

extension OpusError: CustomStringConvertible {
    /// What is wrong, and what to do about it.
    package var description: String {
        switch self {
        case .invalidSetting(let fault): fault.description
        case .invalidLength(let fault): fault.description
        case .malformedPacket: "The packet is not Opus; drop it and conceal its sound."
        case .outOfMemory: "There is no memory for the Opus codec; free some and create it again."
        case .libraryFault(let code):
            "libopus failed with code \(code); reset the codec, and replace the library if this happens again."
        }
    }
}

extension OpusSettingFault: CustomStringConvertible {
    /// What is wrong, and what to do about it.
    package var description: String {
        switch self {
        case .bitrate(let value):
            "Opus cannot encode \(value) bits per second; choose \(OpusEncoderSettings.bitratesPerSecond)."
        case .complexity(let value):
            "Opus has no complexity \(value); choose \(OpusEncoderSettings.complexities)."
        case .expectedLoss(let value):
            "A loss of \(value) per cent cannot be expected; choose \(OpusEncoderSettings.lossesPercent)."
        }
    }
}

extension OpusLengthFault: CustomStringConvertible {
    /// What is wrong, and what to do about it.
    package var description: String {
        switch self {
        case .block(let frames, let expected):
            "A block of \(frames) frames is not one Opus frame; pass \(expected) frames, or change the frame duration."
        case .concealment(let frames):
            "\(frames) frames cannot be concealed; pass a multiple of 120 frames (2.5 ms), from 120 to 5760."
        case .output(let frames, let needed):
            "The packet holds \(needed) frames and there is room for \(frames); pass 5760 to fit every packet."
        case .packet(let bytes):
            "\(bytes) bytes are too few for a packet; pass \(OpusEncoder.maximumPacketBytes)."
        }
    }
}
