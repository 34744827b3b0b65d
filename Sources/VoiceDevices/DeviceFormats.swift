/// How the samples of a stream lie in memory. All are little-endian and interleaved.
public enum SampleFormat: String, Equatable, BitwiseCopyable, Sendable, CaseIterable {
    /// 32-bit IEEE float, full scale +-1.
    case float32
    /// 32-bit integer.
    case int32
    /// 24-bit integer in the low bytes of 32 bits.
    case int24
    /// 24-bit integer in three bytes.
    case int24Packed
    /// 16-bit integer.
    case int16

    /// Bytes that one sample of one channel takes.
    public var bytesPerSample: Int {
        switch self {
        case .float32, .int32, .int24: 4
        case .int24Packed: 3
        case .int16: 2
        }
    }
}

/// The shape of one direction's stream at the device.
public struct StreamFormat: Equatable, BitwiseCopyable, Sendable {
    /// Frames per second.
    public var sampleRate: Int
    /// Samples in a frame.
    public var channels: Int
    /// Frames that are moved at a time.
    public var periodFrames: Int
    /// Frames that the device's own buffer holds.
    public var bufferFrames: Int
    /// How a sample is written.
    public var sampleFormat: SampleFormat

    /// A format; frames are frames of this sample rate.
    public init(sampleRate: Int, channels: Int, periodFrames: Int, bufferFrames: Int, sampleFormat: SampleFormat) {
        self.sampleRate = sampleRate
        self.channels = channels
        self.periodFrames = periodFrames
        self.bufferFrames = bufferFrames
        self.sampleFormat = sampleFormat
    }
}

/// What was asked for in one direction and what the device gave.
public struct NegotiatedFormat: Equatable, Sendable {
    /// As asked.
    public var requested: StreamFormat
    /// As it runs.
    public var active: StreamFormat
    /// What the conversion between the active rate and 48 kHz adds to the way; zero without one. The times of the
    /// frames account for it.
    public var conversionDelay: Duration

    /// A pair of formats.
    public init(requested: StreamFormat, active: StreamFormat, conversionDelay: Duration = .zero) {
        self.requested = requested
        self.active = active
        self.conversionDelay = conversionDelay
    }
}

/// What a device runs with; nil for a direction that it does not have.
public struct DeviceFormats: Equatable, Sendable {
    /// From the microphone.
    public var capture: NegotiatedFormat?
    /// To the loudspeaker.
    public var playback: NegotiatedFormat?

    /// Formats of a device of either or both directions.
    public init(capture: NegotiatedFormat?, playback: NegotiatedFormat?) {
        self.capture = capture
        self.playback = playback
    }
}
