// Samples of 16 bits and of floating point: full scale is 32,768 in both directions, so that 16 bits come back as they
// were.

extension Int16 {
    /// A sample, 1 being full scale: rounded to the nearest, clipped where it is louder than full scale; silence where
    /// it is no number.
    @inlinable
    package init(fullScale sample: Float) {
        let scaled = (sample * 32_768).rounded()
        self = scaled.isNaN ? 0 : Int16(Swift.max(-32_768, Swift.min(32_767, scaled)))
    }
}

extension Float {
    /// A sample of 16 bits as a part of full scale, -1..<1.
    @inlinable
    package init(fullScale sample: Int16) { self = Float(sample) * (1 / 32_768) }
}
