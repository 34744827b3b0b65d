/// Converts between interleaved samples of any ``SampleFormat`` and mono Float32. Full scale is +-1; integers are
/// rounded to nearest, ties away from zero, without dither (at 16 bits the rounding is 98 dB below full scale, far
/// below any microphone's own noise).
@safe
struct SampleConversion: BitwiseCopyable, @unchecked Sendable {
    let format: SampleFormat
    let channels: Int
    /// The first and the last channel of those whose mean is taken on capture.
    private let first: Int
    private let last: Int
    private let bytesPerFrame: Int

    init(format: SampleFormat, channels: Int, mix: ChannelMix) {
        self.format = format
        self.channels = channels
        bytesPerFrame = format.bytesPerSample * channels
        let members = mix.members(of: channels)
        first = members.lowerBound
        last = members.upperBound
    }

    /// `frames` interleaved frames to mono.
    @_noLocks @_noAllocation
    func toMono(_ source: UnsafeRawPointer, _ target: UnsafeMutablePointer<Float>, frames: Int) {
        let scale = 1 / Float(last - first + 1)
        var frame = 0
        while frame < frames {
            var sum: Float = 0
            var index = first
            while index <= last {
                unsafe sum += sample(source + frame * bytesPerFrame + index * sampleBytes)
                index += 1
            }
            unsafe target[frame] = sum * scale
            frame += 1
        }
    }

    /// `frames` mono frames to interleaved ones, the same on each of the first two channels; further channels are
    /// silent.
    @_noLocks @_noAllocation
    func fromMono(_ source: UnsafePointer<Float>, _ target: UnsafeMutableRawPointer, frames: Int) {
        var frame = 0
        while frame < frames {
            let value = unsafe source[frame]
            var index = 0
            while index < channels {
                unsafe store(index < 2 ? value : 0, at: target + frame * bytesPerFrame + index * sampleBytes)
                index += 1
            }
            frame += 1
        }
    }

    private var sampleBytes: Int {
        @_noLocks @_noAllocation get {
            switch format {
            case .float32, .int32, .int24: 4
            case .int24Packed: 3
            case .int16: 2
            }
        }
    }

    @_noLocks @_noAllocation
    private func sample(_ source: UnsafeRawPointer) -> Float {
        switch format {
        case .float32:
            return unsafe source.loadUnaligned(as: Float.self)
        case .int32:
            return unsafe Float(source.loadUnaligned(as: Int32.self)) * 0x1p-31
        case .int24:
            // The high byte is undefined for S24_LE, hence the shift there and back.
            return unsafe Float((source.loadUnaligned(as: Int32.self) << 8) >> 8) * 0x1p-23
        case .int24Packed:
            let low = unsafe Int32(source.loadUnaligned(as: UInt16.self))
            let high = unsafe Int32(source.loadUnaligned(fromByteOffset: 2, as: Int8.self))
            return Float(high << 16 | low) * 0x1p-23
        case .int16:
            return unsafe Float(source.loadUnaligned(as: Int16.self)) * 0x1p-15
        }
    }

    @_noLocks @_noAllocation
    private func store(_ value: Float, at target: UnsafeMutableRawPointer) {
        switch format {
        case .float32:
            unsafe target.storeBytes(of: value, as: Float.self)
        case .int32:
            // In Double, as a Float cannot hold the highest Int32.
            let scaled = min(max(Double(value) * 0x1p31, -0x1p31), 0x1p31 - 1)
            unsafe target.storeBytes(of: Int32(scaled < 0 ? scaled - 0.5 : scaled + 0.5), as: Int32.self)
        case .int24:
            unsafe target.storeBytes(of: Self.int24(value), as: Int32.self)
        case .int24Packed:
            let integer = Self.int24(value)
            unsafe target.storeBytes(of: UInt16(truncatingIfNeeded: integer), as: UInt16.self)
            unsafe target.storeBytes(of: UInt8(truncatingIfNeeded: integer >> 16), toByteOffset: 2, as: UInt8.self)
        case .int16:
            let scaled = min(max(value * 0x1p15, -0x1p15), 0x1p15 - 1)
            unsafe target.storeBytes(of: Int16(scaled < 0 ? scaled - 0.5 : scaled + 0.5), as: Int16.self)
        }
    }

    @_noLocks @_noAllocation
    private static func int24(_ value: Float) -> Int32 {
        let scaled = min(max(Double(value) * 0x1p23, -0x1p23), 0x1p23 - 1)
        return Int32(scaled < 0 ? scaled - 0.5 : scaled + 0.5)
    }
}
