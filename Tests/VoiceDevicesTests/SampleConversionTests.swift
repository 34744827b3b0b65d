import TestCases
import Testing

@testable import VoiceDevices

@Suite("Sample conversion")
struct SampleConversionTests {
    /// Bytes of one value in each format, as the ALSA documentation lays them out, with what they mean.
    static let vectors: [(SampleFormat, [UInt8], Float)] = [
        (.int16, [0x00, 0x40], 0.5), (.int16, [0x00, 0x80], -1), (.int16, [0xFF, 0x7F], 32_767.0 / 32_768),
        (.int24Packed, [0x00, 0x00, 0x40], 0.5), (.int24Packed, [0x00, 0x00, 0x80], -1),
        (.int24Packed, [0xFF, 0xFF, 0xFF], -0x1p-23), (.int24, [0x00, 0x00, 0x40, 0x00], 0.5),
        (.int24, [0x00, 0x00, 0x80, 0xFF], -1), (.int32, [0x00, 0x00, 0x00, 0x40], 0.5),
        (.int32, [0x00, 0x00, 0x00, 0x80], -1), (.float32, [0x00, 0x00, 0x00, 0x3F], 0.5),
    ]

    @Test("Each format's bytes mean what they should, both ways", arguments: vectors)
    func vector(format: SampleFormat, bytes: [UInt8], value: Float) {
        let conversion = SampleConversion(format: format, channels: 1, mix: .average)
        #expect(read(conversion, bytes, frames: 1) == [value])
        #expect(write(conversion, [value]) == bytes)
    }

    @Test("The high byte of 24 bits in 32 may be anything")
    func undefinedByte() {
        let conversion = SampleConversion(format: .int24, channels: 1, mix: .average)
        #expect(read(conversion, [0x00, 0x00, 0x40, 0xAA], frames: 1) == [0.5])
    }

    @Test("There and back costs at most half a step", arguments: SampleFormat.allCases, [1 as UInt64, 2])
    func roundTrip(format: SampleFormat, seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        let samples = [-1, 1, 0] + random.noise(1_000, amplitude: 1)
        for channels in [1, 2] {
            let conversion = SampleConversion(format: format, channels: channels, mix: .channel(channels - 1))
            let back = read(conversion, write(conversion, samples), frames: samples.count)
            let step: Float =
                switch format {
                case .float32: 0
                case .int32, .int24, .int24Packed: 0x1p-23
                case .int16: 0x1p-15
                }
            for (sample, other) in zip(samples, back) {
                // Full scale up is not there in integers, and lies a whole step below.
                #expect(abs(sample - other) <= (sample == 1 ? step : step / 2), "seed \(seed)")
            }
        }
    }

    @Test("Several channels are averaged or one is taken; beyond two nothing is played")
    func channels() {
        let bytes = write(SampleConversion(format: .int16, channels: 4, mix: .average), [0.5])
        #expect(bytes == [0x00, 0x40, 0x00, 0x40, 0, 0, 0, 0])
        #expect(read(SampleConversion(format: .int16, channels: 4, mix: .average), bytes, frames: 1) == [0.25])
        #expect(read(SampleConversion(format: .int16, channels: 4, mix: .firstTwo), bytes, frames: 1) == [0.5])
        #expect(read(SampleConversion(format: .int16, channels: 1, mix: .firstTwo), bytes, frames: 2) == [0.5, 0.5])
        #expect(read(SampleConversion(format: .int16, channels: 4, mix: .channel(1)), bytes, frames: 1) == [0.5])
        #expect(read(SampleConversion(format: .int16, channels: 4, mix: .channel(2)), bytes, frames: 1) == [0])
        #expect(read(SampleConversion(format: .int16, channels: 4, mix: .channel(9)), bytes, frames: 1) == [0])
        #expect(read(SampleConversion(format: .int16, channels: 4, mix: .channels(1...2)), bytes, frames: 1) == [0.25])
        #expect(read(SampleConversion(format: .int16, channels: 2, mix: .channels(1...2)), bytes, frames: 1) == [0.5])
    }

    @Test("A microphone on inputs 3 and 4 is heard where they are chosen, and a card without them is refused")
    func inputs() throws {
        // Given four channels of which the last two sound
        let bytes: [UInt8] = [0, 0, 0, 0, 0x00, 0x40, 0x00, 0x20]
        #expect(read(SampleConversion(format: .int16, channels: 4, mix: .firstTwo), bytes, frames: 1) == [0])
        let chosen = ChannelMix.channels(2...3)
        #expect(read(SampleConversion(format: .int16, channels: 4, mix: chosen), bytes, frames: 1) == [0.375])
        #expect(chosen.wantedChannels == 4 && ChannelMix.channel(0).wantedChannels == 2)
        #expect(ChannelMix.firstTwo.wantedChannels == 1 && ChannelMix.average.wantedChannels == 1)
        try chosen.check(against: 4)
        #expect(throws: DeviceError.unsupported(asked: "4 channels", offers: "2")) { try chosen.check(against: 2) }
        try ChannelMix.firstTwo.check(against: 1)
    }

    @Test("Channels that no card has are no configuration", arguments: [-1...0, 0...256, 300...300])
    func impossible(channels: ClosedRange<Int>) {
        var card = ALSADeviceConfiguration()
        card.captureChannels = .channels(channels)
        #expect(throws: DeviceError.self) { try card.validate() }
        card.captureChannels = .channels(0...255)
        #expect(throws: Never.self) { try card.validate() }
    }

    @Test("Of a card's microphones the first two are taken: what follows may be what it plays")
    func usual() {
        #expect(ALSADeviceConfiguration().captureChannels == .firstTwo)
    }

    private func read(_ conversion: SampleConversion, _ bytes: [UInt8], frames: Int) -> [Float] {
        var mono = [Float](repeating: .nan, count: frames)
        unsafe bytes.withUnsafeBytes { source in
            unsafe mono.withUnsafeMutableBufferPointer { target in
                guard let from = source.baseAddress, let to = target.baseAddress else { return }
                unsafe conversion.toMono(from, to, frames: frames)
            }
        }
        return mono
    }

    private func write(_ conversion: SampleConversion, _ mono: [Float]) -> [UInt8] {
        let count = mono.count * conversion.channels * conversion.format.bytesPerSample
        var bytes = [UInt8](repeating: 0xEE, count: count)
        unsafe mono.withUnsafeBufferPointer { source in
            unsafe bytes.withUnsafeMutableBytes { target in
                guard let from = source.baseAddress, let to = target.baseAddress else { return }
                unsafe conversion.fromMono(from, to, frames: mono.count)
            }
        }
        return bytes
    }
}
