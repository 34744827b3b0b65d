/// Companded telephone sound at 8 kHz (ITU-T G.711).
package enum G711 {
    /// A byte of the µ-law: sign, segment and step, all inverted. 14 bits of the sample count.
    package static func encodeMuLaw(_ sample: Int16) -> UInt8 {
        let bias = 33
        let clip = 8_158
        let magnitude = min(abs(Int(sample)) >> 2, clip) + bias
        let segment = magnitude.bitWidth - magnitude.leadingZeroBitCount - 6
        let step = magnitude >> (segment + 1) & 15
        return ~UInt8((sample < 0 ? 0x80 : 0) | segment << 4 | step)
    }

    package static func decodeMuLaw(_ byte: UInt8) -> Int16 {
        let byte = Int(~byte)
        let magnitude = ((byte & 15) << 1 | 33) << (byte >> 4 & 7) - 33
        return Int16((byte & 0x80 != 0 ? -magnitude : magnitude) << 2)
    }

    /// A byte of the A-law: sign, segment and step, even bits inverted. 13 bits of the sample count.
    package static func encodeALaw(_ sample: Int16) -> UInt8 {
        let isPositive = sample >= 0
        let magnitude = (isPositive ? Int(sample) : ~Int(sample)) >> 3
        let segment = max(0, magnitude.bitWidth - magnitude.leadingZeroBitCount - 5)
        let step = magnitude >> max(segment, 1) & 15
        return UInt8((isPositive ? 0x80 : 0) | segment << 4 | step) ^ 0x55
    }

    package static func decodeALaw(_ byte: UInt8) -> Int16 {
        let byte = Int(byte ^ 0x55)
        let segment = byte >> 4 & 7
        let step = (byte & 15) << 1 | 1
        let magnitude = segment == 0 ? step : (step | 32) << (segment - 1)
        return Int16((byte & 0x80 != 0 ? magnitude : -magnitude) << 3)
    }
}
