/// Samples as a client gives them: every format takes the same way into the queue. For no longer than the span that it
/// is made of.
///
/// Not `~Escapable`: to Swift 6.3's proof the end of such a value may free memory.
@safe
package struct SoundSamples: BitwiseCopyable {
    private enum Format { case float32, int16 }

    let count: Int
    private let start: UnsafeRawPointer?
    private let format: Format

    @_noLocks @_noAllocation
    init(_ samples: borrowing Span<Float>) {
        (count, format) = (samples.count, .float32)
        unsafe start = UnsafeRawPointer(samples.withUnsafeBufferPointer { $0.baseAddress })
    }

    @_noLocks @_noAllocation
    init(_ samples: borrowing Span<Int16>) {
        (count, format) = (samples.count, .int16)
        unsafe start = UnsafeRawPointer(samples.withUnsafeBufferPointer { $0.baseAddress })
    }

    /// `count` samples from this address on.
    @_noLocks @_noAllocation
    package init(_ start: UnsafePointer<Float>, count: Int) {
        (self.count, format) = (count, .float32)
        unsafe self.start = UnsafeRawPointer(start)
    }

    /// The same of 16-bit samples.
    @_noLocks @_noAllocation
    package init(_ start: UnsafePointer<Int16>, count: Int) {
        (self.count, format) = (count, .int16)
        unsafe self.start = UnsafeRawPointer(start)
    }

    /// Copies samples to the front of `target`, at full scale ±1. What is no number is silence: else it would silence
    /// everybody in the mix.
    @_noLocks @_noAllocation
    func copy(from first: Int, frames: Int, to target: UnsafeMutablePointer<Float>) {
        guard let start = unsafe start else { return }
        precondition(first >= 0 && first &+ frames <= count)
        var index = 0
        switch format {
        case .float32:
            let samples = unsafe start.assumingMemoryBound(to: Float.self) + first
            while index < frames {
                let sample = unsafe samples[index]
                unsafe target[index] = sample > 1 ? 1 : sample >= -1 ? sample : sample < -1 ? -1 : 0
                index &+= 1
            }
        case .int16:
            let samples = unsafe start.assumingMemoryBound(to: Int16.self) + first
            while index < frames {
                unsafe target[index] = Float(samples[index]) * (1 / 32_768)
                index &+= 1
            }
        }
    }
}
