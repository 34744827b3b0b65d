import Glibc

/// Lowers the sample rate by a small integer with a windowed-sinc low-pass filter, for the delay search: the same for both
/// signals, so its own delay drops out.
@safe
struct Decimator: ~Copyable {
    /// Cut-off as a share of the new Nyquist frequency.
    private static let cutoff = 0.9
    /// Zero crossings of the sinc on each side.
    private static let sideLobes = 8

    let factor: Int
    private let taps: UnsafeMutableBufferPointer<Float>
    /// The end of the signal so far followed by the block.
    private let line: UnsafeMutableBufferPointer<Float>
    private let block: Int

    init(factor: Int, block: Int) {
        self.factor = factor
        self.block = block
        let half = Self.sideLobes * factor
        let length = 2 * half + 1
        unsafe taps = .allocate(capacity: length)
        unsafe line = .allocate(capacity: length - 1 + block)
        unsafe line.initialize(repeating: 0)
        var sum: Double = 0
        for index in 0..<length {
            let x = Double.pi * Self.cutoff * Double(index - half) / Double(factor)
            let hann = 0.5 + 0.5 * cos(Double.pi * Double(index - half) / Double(half + 1))
            let value = (x == 0 ? 1 : sin(x) / x) * hann
            sum += value
            unsafe taps.initializeElement(at: index, to: Float(value))
        }
        for index in 0..<length { unsafe taps[index] /= Float(sum) }
    }

    deinit {
        unsafe taps.deallocate()
        unsafe line.deallocate()
    }

    /// Filters a block and writes `block.count / factor` frames to `output`.
    @unsafe
    mutating func run(_ input: Span<Float>, into output: UnsafeMutablePointer<Float>) {
        precondition(input.count == block, "the block's length is fixed")
        guard let start = unsafe line.baseAddress, let coefficients = unsafe taps.baseAddress else { return }
        let length = unsafe taps.count
        let kept = length - 1
        unsafe memmove(start, start + block, kept * MemoryLayout<Float>.stride)
        for index in 0..<block { unsafe start[kept + index] = SampleBounds.bounded(input[index]) }
        for index in 0..<block / factor {
            let at = unsafe start + index &* factor
            var sum = SIMD8<Float>.zero
            var tap = 0
            while tap &+ 8 <= length {
                let a = unsafe UnsafeRawPointer(at + tap).loadUnaligned(as: SIMD8<Float>.self)
                let b = unsafe UnsafeRawPointer(coefficients + tap).loadUnaligned(as: SIMD8<Float>.self)
                sum += a * b
                tap &+= 8
            }
            var total = sum.sum()
            while tap < length {
                total += unsafe at[tap] * coefficients[tap]
                tap &+= 1
            }
            unsafe output[index] = total
        }
    }
}
