/// A sample as callers have it.
protocol PCMSample: BitwiseCopyable {
    /// As a part of full scale.
    var unit: Float { get }
    init(unit: Float)
}

extension Float: PCMSample {
    var unit: Float { self }
    init(unit: Float) { self = unit }
}

extension Int16: PCMSample {
    var unit: Float { Float(self) / 32_768 }
    /// Rounded to the nearest; what is louder than full scale is clipped. What leaves a processor is a number.
    init(unit: Float) { self = Int16(Swift.max(-32_768, Swift.min(32_767, (unit * 32_768).rounded()))) }
}
