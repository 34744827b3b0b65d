internal import VoiceSignal

/// A WAV file in memory: mono, 16 bits.
package enum WaveFile {
    /// The file of these samples, full scale ±1; `rate` in Hz.
    package static func encoded(_ samples: [Float], rate: Int) -> [UInt8] {
        func little(_ value: Int, _ bytes: Int) -> [UInt8] {
            (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let bytes = samples.count * 2
        var file = Array("RIFF".utf8) + little(36 + bytes, 4) + Array("WAVEfmt ".utf8) + little(16, 4)
        file += little(1, 2) + little(1, 2) + little(rate, 4) + little(rate * 2, 4)
        file += little(2, 2) + little(16, 2) + Array("data".utf8) + little(bytes, 4)
        file.reserveCapacity(file.count + bytes)
        for sample in samples {
            let value = Int16(fullScale: sample)
            file.append(UInt8(truncatingIfNeeded: value))
            file.append(UInt8(truncatingIfNeeded: value >> 8))
        }
        return file
    }
}
