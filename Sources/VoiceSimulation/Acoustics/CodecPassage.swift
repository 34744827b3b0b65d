internal import VoiceCoding

/// Sound through Opus, as a wireless loudspeaker gets it.
package enum CodecPassage {
    /// What the codec makes of mono sound at 48 kHz; as long, and later by the codec's own delay. For preparing a
    /// recording: allocates.
    package static func decoded(_ sound: [Float], bitsPerSecond: Int = 12_000) throws -> [Float] {
        var settings = OpusEncoderSettings.voice
        settings.bitratePerSecond = bitsPerSecond
        var encoder = try OpusEncoder(settings: settings)
        var decoder = try OpusDecoder()
        let frames = settings.frameDuration.frames
        var packet = [UInt8](repeating: 0, count: OpusEncoder.maximumPacketBytes)
        var block = [Float](repeating: 0, count: frames)
        var result: [Float] = []
        for start in stride(from: 0, to: sound.count - frames + 1, by: frames) {
            var bytes = packet.mutableSpan
            let length = try encoder.encode(sound.span.extracting(start..<start + frames), into: &bytes)
            var into = block.mutableSpan
            _ = try decoder.decode(packet.span.extracting(0..<length), into: &into)
            result += block
        }
        return result + [Float](repeating: 0, count: sound.count - result.count)
    }
}
