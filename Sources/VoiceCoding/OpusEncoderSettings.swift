/// What the encoder optimises for; fixed for an encoder's life, because libopus ties its state to it.
public enum OpusApplication: Sendable, CaseIterable, BitwiseCopyable {
    /// Speech: SILK, hybrid or CELT as the bit rate asks, with in-band FEC. Look-ahead 6.5 ms
    /// (`OPUS_APPLICATION_VOIP`).
    case voip
    /// Music and whatever else there is to hear: as `voip`, without what that does to make speech plainer
    /// (`OPUS_APPLICATION_AUDIO`). Look-ahead 6.5 ms.
    case music
    /// CELT only: look-ahead 2.5 ms, but no in-band FEC (`OPUS_APPLICATION_RESTRICTED_LOWDELAY`).
    case lowDelay
}

/// How much sound one packet carries (RFC 6716, section 2.1.4).
///
/// Below 10 ms the codec is CELT alone, as in ``OpusApplication/lowDelay``: without FEC, and dearer, since each packet
/// has its headers.
public enum OpusFrameDuration: Sendable, CaseIterable, BitwiseCopyable {
    /// 2.5 ms.
    case microseconds2500
    /// 5 ms.
    case milliseconds5
    /// 10 ms.
    case milliseconds10
    /// 20 ms.
    case milliseconds20
    /// 40 ms.
    case milliseconds40
    /// 60 ms.
    case milliseconds60

    /// Frames of 48 kHz in one packet: 120, 240, 480, 960, 1920 or 2880.
    public var frames: Int {
        switch self {
        case .microseconds2500: 120
        case .milliseconds5: 240
        case .milliseconds10: 480
        case .milliseconds20: 960
        case .milliseconds40: 1920
        case .milliseconds60: 2880
        }
    }
}

/// The encoder settings that may change between any two packets without a gap in the sound.
public struct OpusEncoderSettings: Equatable, Sendable, BitwiseCopyable {
    /// Bit rates that libopus accepts for one channel, bits per second (`opus_defines.h`, `OPUS_SET_BITRATE`).
    public static let bitratesPerSecond = 500...512_000
    /// Computational complexities that libopus accepts (`OPUS_SET_COMPLEXITY`).
    public static let complexities = 0...10
    /// Expected packet losses that libopus accepts, per cent (`OPUS_SET_PACKET_LOSS_PERC`).
    public static let lossesPercent = 0...100

    /// Target bit rate in bits per second, within ``bitratesPerSecond``; 16 000 to 40 000 is usual for wide-band
    /// speech.
    public var bitratePerSecond: Int
    /// Computational complexity, within ``complexities``; 10 sounds best and costs most.
    public var complexity: Int
    /// How much sound one packet carries.
    public var frameDuration: OpusFrameDuration
    /// Whether a packet also carries a coarser copy of the one before it (RFC 6716, section 2.1.7).
    ///
    /// Has no effect in ``OpusApplication/lowDelay``, nor while ``expectedLossPercent`` is 0.
    public var usesForwardErrorCorrection: Bool
    /// Packet loss that the encoder prepares for, per cent, within ``lossesPercent``.
    public var expectedLossPercent: Int
    /// Whether silence is sent as a packet of one or two bytes every 400 ms (RFC 6716, section 2.1.9).
    public var usesDiscontinuousTransmission: Bool

    /// Creates settings; what is not given is as in ``voice``. Nothing is checked before ``validate()``.
    public init(
        bitratePerSecond: Int = 32_000,
        complexity: Int = 9,
        frameDuration: OpusFrameDuration = .milliseconds20,
        usesForwardErrorCorrection: Bool = true,
        expectedLossPercent: Int = 10,
        usesDiscontinuousTransmission: Bool = false
    ) {
        self.bitratePerSecond = bitratePerSecond
        self.complexity = complexity
        self.frameDuration = frameDuration
        self.usesForwardErrorCorrection = usesForwardErrorCorrection
        self.expectedLossPercent = expectedLossPercent
        self.usesDiscontinuousTransmission = usesDiscontinuousTransmission
    }

    /// Wide-band to full-band speech that survives about 10 % of loss: 32 kbit/s, 20 ms, FEC.
    public static let voice = OpusEncoderSettings()

    /// Throws what is out of range; nothing is changed by it.
    ///
    /// - Throws: ``OpusError/invalidSetting(_:)``.
    package func validate() throws(OpusError) {
        guard Self.bitratesPerSecond.contains(bitratePerSecond) else {
            throw .invalidSetting(.bitrate(perSecond: bitratePerSecond))
        }
        guard Self.complexities.contains(complexity) else { throw .invalidSetting(.complexity(complexity)) }
        guard Self.lossesPercent.contains(expectedLossPercent) else {
            throw .invalidSetting(.expectedLoss(percent: expectedLossPercent))
        }
    }
}
