internal import VoiceSignal

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
    var unit: Float { Float(fullScale: self) }
    init(unit: Float) { self.init(fullScale: unit) }
}
