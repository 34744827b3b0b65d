import CVoiceKernels
import Glibc
import VoiceSignal

/// What ``SpeechNetwork`` looks at, of a block of 10 ms at 16 kHz: levels in bands, periodicity in ranges of pitch, and
/// the level's course.
///
///     newest 32 ms × window ─> power ─┬─> 29 bands ─> log10
///                                     ├─> 62 Hz...1 kHz ─> autocorrelation ─> its maximum in 7 ranges of lags
///                                     └─> ⁴√, 94 Hz...4 kHz ─> autocorrelation ─> its maximum in the same
///     newest 10 ms ─> power of its quarters, and of all of it ─> log10
///
/// The first autocorrelation finds a voice under hiss, as most of its power lies below 1 kHz; the compressed one finds
/// it under rumble. The window falls over its last 5 ms only, so that the newest frames count. tools/speech/features.py
/// computes the same; a test compares the two.
struct SpeechFeatures: ~Copyable {
    static let sampleRate = 16_000
    static let block = 160
    private static let frames = 512
    private static let fall = 80
    /// The bands' first bins, of 31.25 Hz.
    private static let edges: InlineArray<30, Int32> = [
        2, 4, 6, 8, 10, 12, 14, 16, 19, 22, 25, 28, 32, 36, 40, 45, 50, 56, 62, 69, 77, 86, 96, 107, 120, 134, 150, 168,
        188, 224,
    ]
    static let bands = 29
    /// Bounds of the ranges of pitch periods, frames: 444 Hz down to 67 Hz.
    private static let lags: InlineArray<8, Int> = [36, 48, 64, 86, 114, 152, 202, 240]
    /// Bins whose periods are looked for.
    private static let strong = 2..<33
    private static let wide = 3..<129
    private static let parts = 4
    /// Added to powers before logarithms, and to bins before autocorrelations.
    private static let leastPower: Float = 1e-9
    private static let leastBin: Float = 1e-12
    /// Numbers of a block.
    static let count = bands + 2 * 7 + parts + 1

    /// What was found in the last block.
    private(set) var values = RealVector(count: count)

    private var transform = RealTransform(length: frames)
    private var window = RealVector(count: frames)
    private var taper = RealVector(count: wide.count)
    private var roots = RealVector(count: wide.count)
    private var edges = FixedArray<Int32>(count: bands + 1, repeating: 0)
    private var line = RealVector(count: frames)
    private var frame = RealVector(count: frames)
    private var power: RealVector
    private let scale: Float

    init() {
        power = RealVector(count: transform.bins)
        let rise = Self.frames - Self.fall
        var energy = 0.0
        for index in 0..<Self.frames {
            let value =
                index < rise
                ? sin(.pi / 2 * (Double(index) + 0.5) / Double(rise))
                : cos(.pi / 2 * (Double(index - rise) + 0.5) / Double(Self.fall))
            window[index] = Float(value)
            energy += value * value
        }
        scale = Float(1 / energy)
        for band in 0...Self.bands { edges[band] = Self.edges[band] }
        for index in 0..<taper.count {
            taper[index] = Float(0.5 - 0.5 * cos(2 * .pi * (Double(index) + 0.5) / Double(taper.count)))
        }
    }

    /// Takes 160 frames.
    mutating func take(_ block: Span<Float>) {
        precondition(block.count == Self.block, "a block is 10 ms at 16 kHz")
        line.shiftDown(by: Self.block)
        line.write(block, at: Self.frames - Self.block)
        frame.copy(from: line)
        frame.scale(by: window)
        transform.forward(frame)
        power.write(powersOf: transform.real, transform.imaginary)
        power.scale(in: 0..<power.count, by: scale, adding: 0)
        precondition(edges.count == Self.bands + 1)
        unsafe vk_band_means(power.start, edges.start, Self.bands, values.start)
        values.takeCommonLogarithm(in: 0..<Self.bands, adding: Self.leastPower)
        findStrongPeriods()
        findWidePeriods()
        let first = Self.bands + 2 * (Self.lags.count - 1)
        let length = Self.block / Self.parts
        for part in 0..<Self.parts {
            let start = part * length
            values[first + part] = energy(of: block.extracting(start..<start + length)) / Float(length)
        }
        values[Self.count - 1] = energy(of: block) / Float(Self.block)
        values.takeCommonLogarithm(in: first..<Self.count, adding: Self.leastPower)
        for part in 0..<Self.parts { values[first + part] -= values[Self.count - 1] }
    }

    private mutating func findStrongPeriods() {
        transform.real.fill(0)
        transform.imaginary.fill(0)
        for bin in Self.strong { transform.real[bin] = power[bin] + Self.leastBin }
        findPeriods(at: Self.bands)
    }

    private mutating func findWidePeriods() {
        transform.real.fill(0)
        transform.imaginary.fill(0)
        roots.write(power, from: Self.wide.lowerBound, count: Self.wide.count, at: 0)
        roots.takeFourthRoot(adding: Self.leastBin)
        roots.scale(by: taper)
        transform.real.write(roots, at: Self.wide.lowerBound)
        findPeriods(at: Self.bands + Self.lags.count - 1)
    }

    /// The largest autocorrelation of the transform's spectrum in each range of lags, relative to that at lag 0.
    private mutating func findPeriods(at first: Int) {
        transform.inverse(into: &frame)
        let whole = 1 / (frame[0] + 1e-20)
        for range in 0..<Self.lags.count - 1 {
            values[first + range] = frame.largest(in: Self.lags[range]..<Self.lags[range + 1]) * whole
        }
    }
}
