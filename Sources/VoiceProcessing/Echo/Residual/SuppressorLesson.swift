import Glibc
import VoiceSignal

/// What ``ResidualEchoNetwork`` is to learn from: block by block what it looks at in a call, and what it should have
/// made of it.
///
/// For tools/train-suppressor; nothing in a call uses it.
package struct SuppressorLesson: ~Copyable {
    /// Frames of a block at 16 kHz.
    package static let block = NativeEchoCanceller.block
    /// Numbers of a record: the network's features, those of each bin, and the common logarithm of the near end's power
    /// in each bin.
    package static let record = ResidualEchoFeatures.inBands + ofBins + Spectrum.bins

    private static let leastPower: Float = 1e-6
    private static let ofBins = ResidualEchoFeatures.perBin * ResidualEchoFeatures.paddedBins

    private var canceller = NativeEchoCanceller()
    private var nearLine = AnalysisLine()
    private var captured = RealVector(count: Self.block)
    private var clean = RealVector(count: Self.block)
    private var near = Spectrum()
    private var batch = TransformBatch()

    /// - Parameter hint: frames from the far end to its echo, as they are said to be; 0: nobody says.
    package init(hint: Int = 0) { canceller.hint = hint }

    /// Cancels the echo in a block and writes a record of it.
    ///
    /// - Parameters:
    ///   - microphone: 160 frames.
    ///   - far: what was played.
    ///   - near: the microphone without the echo.
    ///   - record: where to write, ``record`` numbers.
    package mutating func run(
        microphone: Span<Float>, far: Span<Float>, near frames: Span<Float>, into record: inout MutableSpan<Float>
    ) {
        precondition(record.count == Self.record)
        captured.write(microphone)
        Self.cancel(&captured, far, by: &canceller)
        clean.write(frames)
        nearLine.push(clean, lane: 0, &batch)
        batch.forward()
        batch.getSpectrum(0, into: &near)
        let (inBands, ofBins) = (ResidualEchoFeatures.inBands, Self.ofBins)
        for index in 0..<inBands { record[index] = canceller.suppressor.features.bands[index] }
        for index in 0..<ofBins { record[inBands + index] = canceller.suppressor.features.ofBins[index] }
        for bin in 0..<Spectrum.bins { record[inBands + ofBins + bin] = log10f(near.power(bin) + Self.leastPower) }
    }

    private static func cancel(
        _ captured: inout RealVector, _ far: Span<Float>, by canceller: inout NativeEchoCanceller
    ) {
        var span = captured.mutableSpan
        canceller.run(capture: &span, far: far)
    }
}
