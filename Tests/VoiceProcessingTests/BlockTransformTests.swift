import Glibc
import TestCases
import Testing
import VoiceSignal

@testable import VoiceProcessing

@Suite("Transforms of a block, and spectra side by side")
struct BlockTransformTests {
    private static func random(_ seed: UInt64, count: Int = BlockTransform.frames) -> RealVector {
        var generator = SeededNumbers(seed: seed)
        var vector = RealVector(count: count)
        for index in 0..<count { vector[index] = generator.normal() }
        return vector
    }

    private static func spectrum(_ seed: UInt64, lanes: Int = 1) -> Spectrum {
        var generator = SeededNumbers(seed: seed)
        var spectrum = Spectrum(lanes: lanes)
        for index in 0..<Spectrum.bins * lanes {
            spectrum.real[index] = generator.normal()
            let isReal = index < lanes || index >= (Spectrum.bins - 1) * lanes
            spectrum.imaginary[index] = isReal ? 0 : generator.normal()
        }
        return spectrum
    }

    /// A bin of a signal's spectrum, by the definition.
    private static func bin(_ bin: Int, of signal: [Float]) -> (real: Double, imaginary: Double) {
        var (real, imaginary) = (0.0, 0.0)
        for index in signal.indices {
            let angle = 2 * Double.pi * Double(bin * index) / Double(signal.count)
            real += Double(signal[index]) * cos(angle)
            imaginary -= Double(signal[index]) * sin(angle)
        }
        return (real, imaginary)
    }

    private static func expect(
        _ spectrum: borrowing Spectrum, is signal: [Float], _ comment: Comment,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for bin in 0..<Spectrum.bins {
            let expected = Self.bin(bin, of: signal)
            let distance = max(
                abs(Double(spectrum.real[bin]) - expected.real),
                abs(Double(spectrum.imaginary[bin]) - expected.imaginary))
            #expect(distance < 1e-3, comment, sourceLocation: sourceLocation)
        }
    }

    @Test("a spectrum is what the definition gives, of frames, of a line and of its frames times a window")
    func definition() {
        for seed: UInt64 in [1, 2, 3] {
            // Given
            var transform = BlockTransform()
            var spectrum = Spectrum()
            let signal = Self.random(seed)
            let window = Self.random(seed + 100)
            let long = Self.random(seed + 200, count: 700)
            let half = Self.random(seed + 300, count: BlockTransform.frames / 2)
            var line = DelayLine(count: BlockTransform.frames)
            line.push(signal)
            let frames = (0..<BlockTransform.frames).map { signal[$0] }
            // When, Then
            transform.forward(signal, into: &spectrum)
            Self.expect(spectrum, is: frames, "seed \(seed)")
            transform.forward(line, into: &spectrum)
            Self.expect(spectrum, is: frames, "seed \(seed), a line")
            transform.forward(line, window: window, into: &spectrum)
            Self.expect(spectrum, is: frames.indices.map { frames[$0] * window[$0] }, "seed \(seed), a window")
            transform.forward(long, from: 123, into: &spectrum)
            Self.expect(spectrum, is: frames.indices.map { long[123 + $0] }, "seed \(seed), within a vector")
            transform.forward(silenceThen: half, into: &spectrum)
            let padded = [Float](repeating: 0, count: half.count) + (0..<half.count).map { half[$0] }
            Self.expect(spectrum, is: padded, "seed \(seed), after silence")
        }
    }

    @Test("forward and back is where it was, and any part of it can be had")
    func inverse() {
        // Given
        var transform = BlockTransform()
        var spectrum = Spectrum()
        let signal = Self.random(10)
        transform.forward(signal, into: &spectrum)
        for (first, count) in [(0, BlockTransform.frames), (0, 65), (160, 160)] {
            var back = RealVector(count: count)
            // When
            transform.inverse(spectrum, from: first, into: &back)
            // Then
            for index in 0..<count { #expect(abs(back[index] - signal[first + index]) < 1e-5, "from \(first)") }
        }
    }

    @Test("lags are the first half of the inverse, lane by lane, with their largest, where it is, and their sum")
    func lags() {
        // Given
        let spectra = Self.spectrum(20, lanes: 32)
        var rows = SpectrumRows(count: 32, width: .searched)
        rows.write(lanesOf: spectra)
        var frames = LagFrames()
        var transform = BlockTransform()
        // When
        frames.take(rows, rows: 16)
        // Then
        let scale = Float(BlockTransform.frames)
        for lane in 0..<LagFrames.lanes {
            var one = Spectrum()
            for bin in 0..<LagFrames.bins {
                one.real[bin] = scale * spectra.real[bin * 32 + 16 + lane]
                one.imaginary[bin] = scale * spectra.imaginary[bin * 32 + 16 + lane]
            }
            var half = RealVector(count: LagFrames.frames)
            transform.inverse(one, into: &half)
            var (largest, place, sum): (Float, Int, Float) = (0, 0, 0)
            for index in 0..<half.count {
                #expect(abs(frames[lane, index] - half[index]) < 1e-3, "lane \(lane)")
                if abs(frames[lane, index]) > largest { (largest, place) = (abs(frames[lane, index]), index) }
                sum += abs(half[index])
            }
            let found = (frames.largest[lane], Int(frames.frame[lane]))
            #expect(found == (largest, place), "lane \(lane)")
            #expect(abs(frames.sum[lane] - sum) < 0.1, "lane \(lane)")
        }
    }

    @Test("a history has the newest spectra first, for longer than it has room")
    func history() {
        // Given
        let lanes = 24
        var history = SpectrumHistory(lanes: lanes, width: .whole)
        var moved = Spectrum(lanes: lanes)
        let weights = Self.spectrum(31, lanes: lanes)
        var rows = SpectrumRows(count: lanes, width: .whole)
        rows.write(lanesOf: weights)
        for number in 0..<3 * UInt64(lanes) + 5 {
            let new = Self.spectrum(100 + number)
            // When
            history.push(new)
            moved.push(new, first: 0, count: lanes)
        }
        // Then it is as if each had been moved on
        var output = Spectrum()
        history.filter(by: rows, into: &output)
        for bin in 0..<Spectrum.bins {
            var (real, imaginary): (Float, Float) = (0, 0)
            for lane in 0..<lanes {
                let at = bin * lanes + lane
                real += moved.real[at] * weights.real[at] - moved.imaginary[at] * weights.imaginary[at]
                imaginary += moved.real[at] * weights.imaginary[at] + moved.imaginary[at] * weights.real[at]
            }
            #expect(abs(output.real[bin] - real) < 1e-4 && abs(output.imaginary[bin] - imaginary) < 1e-4, "bin \(bin)")
        }
    }

    @Test("products of two blocks are averaged at once as one after the other")
    func correlation() {
        // Given
        let (lanes, first, memory) = (LagFrames.lanes + 5, 4, Float(0.7))
        var past = SpectrumHistory(lanes: lanes, width: .searched)
        var recorded = SpectrumHistory(lanes: 2, width: .searched)
        var moved = Spectrum(lanes: 24)
        var eachBlock = SpectrumRows(count: lanes, width: .searched)
        var bothBlocks = SpectrumRows(count: lanes, width: .searched)
        var expected = Spectrum(lanes: lanes)
        for number in 0..<4 * UInt64(lanes) {
            let new = Self.spectrum(200 + 2 * number)
            let other = Self.spectrum(201 + 2 * number)
            past.push(new)
            recorded.push(other)
            moved.push(new, first: 0, count: 24)
            // When
            past.correlate(recorded, blocks: 1, memory: memory, lanes: first, into: &eachBlock)
            if !number.isMultiple(of: 2) {
                past.correlate(recorded, blocks: 2, memory: memory, lanes: first, into: &bothBlocks)
            }
            for bin in 0..<LagFrames.bins {
                for lane in first..<first + LagFrames.lanes {
                    let (at, sum) = (bin * 24 + lane, bin * lanes + lane)
                    let real = other.real[bin] * moved.real[at] + other.imaginary[bin] * moved.imaginary[at]
                    let imaginary = other.imaginary[bin] * moved.real[at] - other.real[bin] * moved.imaginary[at]
                    expected.real[sum] = memory * expected.real[sum] + real
                    expected.imaginary[sum] = memory * expected.imaginary[sum] + imaginary
                }
            }
        }
        // Then lanes that were not asked for are as they were
        for bin in 0..<LagFrames.bins {
            for lane in 0..<lanes {
                let (at, sum) = (lane * LagFrames.bins + bin, bin * lanes + lane)
                let (real, imaginary) = (expected.real[sum], expected.imaginary[sum])
                #expect(abs(eachBlock.real[at] - real) < 1e-4 && abs(bothBlocks.real[at] - real) < 1e-4)
                #expect(abs(eachBlock.imaginary[at] - imaginary) < 1e-4)
                #expect(abs(bothBlocks.imaginary[at] - imaginary) < 1e-4)
            }
        }
    }
}
