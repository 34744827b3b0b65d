internal import VoiceSignal

/// Convolution of a stream with a long impulse response, without delay and at little cost.
///
/// The response is cut into partitions of equal length. The first is applied sample by sample, so that the output lacks
/// nothing of the newest input; the others act on the spectra of past blocks, by overlap-save with a frequency-domain
/// delay line (F. Wefers, "Partitioned convolution algorithms for real-time auralization", 2015, section 5). Creating
/// one allocates; processing does not. In one thread's hands at a time.
@safe package struct PartitionedConvolver: ~Copyable, Sendable {
    /// Frames per partition: 2.7 ms at 48 kHz. Measured cheapest of 64, 128, 256 and 512 for a response of 0.3 s.
    private static let partition = 128

    /// Taps of the impulse response.
    package let responseFrames: Int

    private let partitionCount: Int
    private var head: RealVector
    /// Spectra of the later partitions, and of as many past blocks, one after the other.
    private var filterReal: RealVector
    private var filterImaginary: RealVector
    private var pastReal: RealVector
    private var pastImaginary: RealVector
    /// The block before, then the block that is filling.
    private var window: RealVector
    /// What the later partitions add to the block that is filling.
    private var tail: RealVector
    private var transformed: RealVector
    private var transform = RealTransform(length: 2 * partition)
    private var filled = 0
    private var newest = 0

    /// Prepares the convolution with a response of any length; an empty one gives silence.
    package init(impulseResponse: Span<Float>) {
        let partition = Self.partition
        responseFrames = impulseResponse.count
        partitionCount = max(1, (impulseResponse.count + partition - 1) / partition)
        head = RealVector(count: partition)
        let later = (partitionCount - 1) * transform.bins
        filterReal = RealVector(count: later)
        filterImaginary = RealVector(count: later)
        pastReal = RealVector(count: later)
        pastImaginary = RealVector(count: later)
        window = RealVector(count: 2 * partition)
        tail = RealVector(count: partition)
        transformed = RealVector(count: 2 * partition)
        for index in 0..<min(partition, impulseResponse.count) { head[index] = impulseResponse[index] }
        for block in 0..<partitionCount - 1 {
            let first = (block + 1) * partition
            transform.forward(impulseResponse.extracting(first..<min(first + partition, impulseResponse.count)))
            filterReal.write(transform.real, at: block * transform.bins)
            filterImaginary.write(transform.imaginary, at: block * transform.bins)
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
        pastReal.fill(0)
        pastImaginary.fill(0)
        window.fill(0)
        tail.fill(0)
        filled = 0
    }

    @unsafe mutating func process(
        _ input: UnsafePointer<Float>, into output: UnsafeMutablePointer<Float>, frames: Int
    ) {
        var done = 0
        while done < frames {
            let count = min(frames - done, Self.partition - filled)
            let newest = unsafe window.start + Self.partition + filled
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
        for frame in 0..<frames { unsafe output[frame] = tail.start[filled + frame] }
        var tap = 0
        while tap < Self.partition {
            // Frame by frame in the same order of addition: how a stream is cut into blocks never shows in its bits.
            let weight = unsafe head.start[tap]
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
            transform.forward(window)
            pastReal.write(transform.real, at: newest * transform.bins)
            pastImaginary.write(transform.imaginary, at: newest * transform.bins)
            sumPartitions()
            transform.inverse(into: &transformed)
            // The first half is wrapped around; the second is the convolution.
            tail.write(transformed, from: partition, count: partition, at: 0)
        }
        window.shiftDown(by: partition)
    }

    /// Leaves what the later partitions make of the past blocks in the transform's spectrum.
    private mutating func sumPartitions() {
        transform.real.fill(0)
        transform.imaginary.fill(0)
        let later = partitionCount - 1
        for block in 0..<later {
            let filter = block * transform.bins
            let past = (newest - block + later) % later * transform.bins
            unsafe Self.multiplyAccumulate(
                filterReal.start + filter, filterImaginary.start + filter, pastReal.start + past,
                pastImaginary.start + past, transform.real.start, transform.imaginary.start, transform.bins)
        }
    }

    @unsafe private static func multiplyAccumulate(
        _ ar: UnsafePointer<Float>, _ ai: UnsafePointer<Float>, _ br: UnsafePointer<Float>, _ bi: UnsafePointer<Float>,
        _ sumReal: UnsafeMutablePointer<Float>, _ sumImaginary: UnsafeMutablePointer<Float>, _ bins: Int
    ) {
        // Plain, so that unoptimised builds keep up with real time too; optimised ones make vectors of it.
        var bin = 0
        while bin < bins {
            let (a, b, c, d) = unsafe (ar[bin], ai[bin], br[bin], bi[bin])
            unsafe sumReal[bin] += a * c - b * d
            unsafe sumImaginary[bin] += a * d + b * c
            bin += 1
        }
    }
}
