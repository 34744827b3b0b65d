import Glibc
import VoiceSignal

/// What ``ResidualEchoNetwork`` and ``DoubleTalkNetwork`` are to learn from: block by block what they look at in a
/// call, and what they should have made of it.
///
/// For tools/train-suppressor; nothing in a call uses it.
package struct SuppressorLesson: ~Copyable {
    /// Frames of a block at 16 kHz.
    package static let block = NativeEchoCanceller.block
    /// Numbers of a record: features of bands, those of each bin, and the real and imaginary parts of the spectra of
    /// what the linear stage left, of the talkers, and of the room's noise, times ``scale``.
    package static let record =
        ResidualEchoFeatures.allInBands + (ResidualEchoFeatures.allPerBin + 2 * 3) * Spectrum.bins

    /// Spectra are told times this, so that half precision is enough.
    private static let scale: Float = 64

    private var canceller = NativeEchoCanceller()
    private var talkLine = AnalysisLine()
    private var noiseLine = AnalysisLine()
    private var captured = RealVector(count: Self.block)
    private var clean = RealVector(count: Self.block)
    private var talk = Spectrum()
    private var noise = Spectrum()
    private var transform = BlockTransform()
    private var highPass = HighPass(sampleRate: NativeEchoCanceller.sampleRate, isOn: true)
    private var sections = (
        talk: HighPass.section(sampleRate: NativeEchoCanceller.sampleRate),
        noise: HighPass.section(sampleRate: NativeEchoCanceller.sampleRate)
    )

    /// - Parameter hint: frames from the far end to its echo, as they are said to be; 0: nobody says.
    package init(hint: Int = 0) { canceller.hint = hint }

    /// Cancels the echo in a block and writes a record of it.
    ///
    /// - Parameters:
    ///   - microphone: 160 frames.
    ///   - far: what was played.
    ///   - talk: the talkers in the microphone.
    ///   - noise: what else is in the microphone and is no echo.
    ///   - record: where to write, ``record`` numbers.
    package mutating func run(
        microphone: Span<Float>, far: Span<Float>, talk said: Span<Float>, noise heard: Span<Float>,
        into record: inout MutableSpan<Float>
    ) {
        precondition(record.count == Self.record)
        captured.write(microphone)
        Self.cancel(&captured, far, by: &canceller, &highPass)
        Self.filter(said, into: &clean, highPass, &sections.talk)
        talkLine.push(clean, &transform, into: &talk)
        Self.filter(heard, into: &clean, highPass, &sections.noise)
        noiseLine.push(clean, &transform, into: &noise)
        let inBands = ResidualEchoFeatures.allInBands
        for index in 0..<inBands { record[index] = canceller.suppressor.features.bands[index] }
        var at = inBands
        for row in 0..<ResidualEchoFeatures.allPerBin {
            for bin in 0..<Spectrum.bins {
                record[at] = canceller.suppressor.features.ofBins[row * ResidualEchoFeatures.paddedBins + bin]
                at += 1
            }
        }
        Self.write(canceller.suppressor.error, into: &record, at: &at)
        Self.write(talk, into: &record, at: &at)
        Self.write(noise, into: &record, at: &at)
    }

    private static func write(_ spectrum: borrowing Spectrum, into record: inout MutableSpan<Float>, at: inout Int) {
        for bin in 0..<Spectrum.bins {
            record[at + bin] = scale * spectrum.real[bin]
            record[at + Spectrum.bins + bin] = scale * spectrum.imaginary[bin]
        }
        at += 2 * Spectrum.bins
    }

    private static func cancel(
        _ captured: inout RealVector, _ far: Span<Float>, by canceller: inout NativeEchoCanceller,
        _ highPass: inout HighPass
    ) {
        var span = captured.mutableSpan
        highPass.run(microphone: &span)
        canceller.run(capture: &span, far: far)
    }

    private static func filter(
        _ sound: Span<Float>, into clean: inout RealVector, _ highPass: HighPass, _ section: inout HighPass.Section
    ) {
        clean.write(sound)
        var part = clean.mutableSpan
        highPass.run(part: &part, by: &section)
    }
}
