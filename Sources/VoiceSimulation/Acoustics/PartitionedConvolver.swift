/// Convolution of a stream with a long impulse response, without delay and at little cost.
///
/// The response is cut into partitions of equal length. The first is applied sample by sample, so that the output lacks
/// nothing of the newest input; the others act on the spectra of past blocks, by overlap-save with a frequency-domain delay
/// line (F. Wefers, "Partitioned convolution algorithms for real-time auralization", 2015, section 5). Creating one
/// allocates; processing does not. In one thread's hands at a time.
@safe package struct PartitionedConvolver: ~Copyable, Sendable {
    /// Frames per partition: 2.7 ms at 48 kHz. Measured cheapest of 64, 128, 256 and 512 for a response of 0.3 s.
    private static let partition = 128

    /// Taps of the impulse response.
    package let responseFrames: Int

    private let partitionCount: Int
    private let head: SampleMemory
    private let filterReal: SampleMemory
    private let filterImaginary: SampleMemory
    private let pastReal: SampleMemory
    private let pastImaginary: SampleMemory
    /// The block before, then the block that is filling.
    private let window: SampleMemory
    /// What the later partitions add to the block that is filling.
    private let tail: SampleMemory
    private let sumReal: SampleMemory
    private let sumImaginary: SampleMemory
    private let transformed: SampleMemory
    private var transform = RealFourierTransform(length: 2 * partition)
    private var filled = 0
    private var newest = 0

    /// Prepares the convolution with a response of any length; an empty one gives silence.
    package init(impulseResponse: Span<Float>) {
        let partition = Self.partition
        responseFrames = impulseResponse.count
        partitionCount = max(1, (impulseResponse.count + partition - 1) / partition)
        head = SampleMemory(count: partition)
        let later = (partitionCount - 1) * partition
        filterReal = SampleMemory(count: later)
        filterImaginary = SampleMemory(count: later)
        pastReal = SampleMemory(count: later)
        pastImaginary = SampleMemory(count: later)
        window = SampleMemory(count: 2 * partition)
        tail = SampleMemory(count: partition)
        sumReal = SampleMemory(count: partition)
        sumImaginary = SampleMemory(count: partition)
        transformed = SampleMemory(count: 2 * partition)
        for index in 0..<min(partition, impulseResponse.count) { head[index] = impulseResponse[index] }
        let padded = SampleMemory(count: 2 * partition)
        for block in 0..<partitionCount - 1 {
            for index in 0..<partition {
                let tap = (block + 1) * partition + index
                padded[index] = tap < impulseResponse.count ? impulseResponse[tap] : 0
            }
            unsafe transform.forward(
                padded.base, real: filterReal.base + block * partition,
                imaginary: filterImaginary.base + block * partition)
        }
    }

    /// Convolves the next frames of the stream; any number of them, `output` as many as `input`.
    package mutating func process(_ input: Span<Float>, into output: inout MutableSpan<Float>) {
        precondition(input.count == output.count, "as many frames out as in")
        unsafe input.withUnsafeBufferPointer { input in
            unsafe output.withUnsafeMutableBufferPointer { output in
                guard let source = input.baseAddress, let destination = output.baseAddress else { return }
                unsafe process(source, into: destination, frames: input.count)
            }
        }
    }

    /// Forgets the past input.
    package mutating func reset() {
        pastReal.clear()
        pastImaginary.clear()
        window.clear()
        tail.clear()
        filled = 0
    }

    @unsafe mutating func process(
        _ input: UnsafePointer<Float>, into output: UnsafeMutablePointer<Float>, frames: Int
    ) {
        var done = 0
        while done < frames {
            let count = min(frames - done, Self.partition - filled)
            let newest = unsafe window.base + Self.partition + filled
            for index in 0..<count { unsafe newest[index] = input[done + index] }
            unsafe applyHead(to: newest, into: output + done, frames: count)
            filled += count
            done += count
            if filled == Self.partition { finishBlock() }
        }
    }

    /// The first partition, in direct form, and the later partitions' share.
    @unsafe private func applyHead(
        to newest: UnsafeMutablePointer<Float>, into output: UnsafeMutablePointer<Float>, frames: Int
    ) {
        for frame in 0..<frames { unsafe output[frame] = tail.base[filled + frame] }
        var tap = 0
        while tap < Self.partition {
            // Frame by frame in the same order of addition: how a stream is cut into blocks never shows in its bits.
            let weight = unsafe head.base[tap]
            let past = unsafe newest - tap
            var frame = 0
            while frame < frames {
                unsafe output[frame] += weight * past[frame]
                frame += 1
            }
            tap += 1
        }
    }

    /// Stores the block's spectrum and computes what the later partitions add to the next block.
    private mutating func finishBlock() {
        let partition = Self.partition
        filled = 0
        if partitionCount > 1 {
            newest = (newest + 1) % (partitionCount - 1)
            unsafe transform.forward(
                window.base, real: pastReal.base + newest * partition,
                imaginary: pastImaginary.base + newest * partition)
            sumPartitions()
            unsafe transform.inverse(real: sumReal.base, imaginary: sumImaginary.base, into: transformed.base)
            // The first half is wrapped around; the second is the convolution.
            for index in 0..<partition { unsafe tail.base[index] = transformed.base[partition + index] }
        }
        for index in 0..<partition { unsafe window.base[index] = window.base[partition + index] }
    }

    private func sumPartitions() {
        sumReal.clear()
        sumImaginary.clear()
        var direct: Float = 0
        var half: Float = 0
        let later = partitionCount - 1
        for block in 0..<later {
            let filter = block * Self.partition
            let past = (newest - block + later) % later * Self.partition
            unsafe Self.multiplyAccumulate(
                filterReal.base + filter, filterImaginary.base + filter, pastReal.base + past,
                pastImaginary.base + past,
                sumReal.base, sumImaginary.base)
            unsafe direct += filterReal.base[filter] * pastReal.base[past]
            unsafe half += filterImaginary.base[filter] * pastImaginary.base[past]
        }
        // Bin 0 holds two real values, which the complex product has mixed.
        sumReal[0] = direct
        sumImaginary[0] = half
    }

    @unsafe private static func multiplyAccumulate(
        _ ar: UnsafePointer<Float>, _ ai: UnsafePointer<Float>, _ br: UnsafePointer<Float>, _ bi: UnsafePointer<Float>,
        _ sumReal: UnsafeMutablePointer<Float>, _ sumImaginary: UnsafeMutablePointer<Float>
    ) {
        // Plain, so that unoptimised builds keep up with real time too; optimised ones make vectors of it.
        var bin = 0
        while bin < partition {
            let (a, b, c, d) = unsafe (ar[bin], ai[bin], br[bin], bi[bin])
            unsafe sumReal[bin] += a * c - b * d
            unsafe sumImaginary[bin] += a * d + b * c
            bin += 1
        }
    }
}
