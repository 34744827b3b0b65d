import CVoiceKernels

/// Complex numbers for each bin from 0 to half the sample rate, one or several lanes of them, parts apart.
@usableFromInline
package struct Spectrum: ~Copyable {
    /// Bins of a spectrum.
    @inlinable package static var bins: Int { Int(VK_BINS) }

    package let lanes: Int
    @usableFromInline package var real: RealVector
    @usableFromInline package var imaginary: RealVector

    package init(lanes: Int = 1) {
        self.lanes = lanes
        real = RealVector(count: Self.bins * lanes)
        imaginary = RealVector(count: Self.bins * lanes)
    }

    package mutating func clear() {
        real.fill(0)
        imaginary.fill(0)
    }

    package mutating func copy(from other: borrowing Spectrum) {
        real.copy(from: other.real)
        imaginary.copy(from: other.imaginary)
    }

    /// Squared magnitude of a bin, or with lanes of the number at that place.
    @inlinable @_transparent
    package func power(_ index: Int) -> Float { real[index] * real[index] + imaginary[index] * imaginary[index] }

    /// Sum of the squared magnitudes.
    package var energy: Float { real.energy + imaginary.energy }

    /// Becomes a · conj(b).
    package mutating func takeProduct(of a: borrowing Spectrum, conjugateOf b: borrowing Spectrum) {
        precondition(a.lanes == lanes && b.lanes == lanes)
        unsafe vk_products(
            a.real.start, a.imaginary.start, b.real.start, b.imaginary.start, real.start, imaginary.start, real.count)
    }

    /// Becomes another spectrum, of the magnitude 1 in all bins of a range; the others stay.
    package mutating func takeWhitened(_ other: borrowing Spectrum, in range: Range<Int>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= min(real.count, other.real.count))
        let first = range.lowerBound
        unsafe vk_whiten(
            other.real.start + first, other.imaginary.start + first, real.start + first, imaginary.start + first,
            range.count)
    }

    /// An average: moves towards another spectrum by `weight` of the way.
    package mutating func follow(_ new: borrowing Spectrum, weight: Float) {
        real.follow(new.real, weight: weight)
        imaginary.follow(new.imaginary, weight: weight)
    }

    /// Of averaged products: writes the coherence of two signals of these powers, 0...1, from `first` on.
    package func writeCoherence(
        of power: borrowing RealVector, _ other: borrowing RealVector, into coherence: inout RealVector,
        at first: Int = 0
    ) {
        precondition(power.count == real.count && other.count == real.count)
        precondition(first >= 0 && first + real.count <= coherence.count)
        unsafe vk_coherence(
            real.start, imaginary.start, power.start, other.start, coherence.start + first, real.count)
    }

    /// Of products of two signals of these powers: writes their real part's share, −1...1, from `first` on.
    package func writeCosines(
        of power: borrowing RealVector, _ other: borrowing RealVector, into cosines: inout RealVector, at first: Int
    ) {
        precondition(power.count == real.count && other.count == real.count)
        precondition(first >= 0 && first + real.count <= cosines.count)
        unsafe vk_cosines(real.start, power.start, other.start, cosines.start + first, real.count)
    }

    /// Puts a spectrum in lane `first` and moves those from there on up; the last of `count` drops out.
    package mutating func push(_ new: borrowing Spectrum, first: Int, count: Int) {
        precondition(new.lanes == 1 && first + count <= lanes)
        unsafe vk_push_lane(real.start, Self.bins, lanes, first, count, new.real.start)
        unsafe vk_push_lane(imaginary.start, Self.bins, lanes, first, count, new.imaginary.start)
    }
}

/// The newest spectra of a signal as lanes, the newest first. None is moved when another comes: each is written twice,
/// so that the lanes from any one on lie side by side.
package struct SpectrumHistory: ~Copyable {
    package let lanes: Int
    /// Bins that are kept.
    private let bins: Range<Int>
    private var real: RealVector
    private var imaginary: RealVector
    /// The newest one's lane.
    private var newest = 0

    package init(lanes: Int, bins: Range<Int> = 0..<Spectrum.bins) {
        precondition(lanes.isMultiple(of: Int(VK_LANES)) && bins.lowerBound >= 0 && bins.upperBound <= Spectrum.bins)
        self.lanes = lanes
        self.bins = bins
        real = RealVector(count: bins.count * 2 * lanes)
        imaginary = RealVector(count: bins.count * 2 * lanes)
    }

    /// Takes the next one, for the oldest.
    package mutating func push(_ new: borrowing Spectrum) {
        precondition(new.lanes == 1)
        newest = (newest == 0 ? lanes : newest) - 1
        let first = bins.lowerBound
        unsafe vk_put_lane(real.start, bins.count, lanes, newest, new.real.start + first)
        unsafe vk_put_lane(imaginary.start, bins.count, lanes, newest, new.imaginary.start + first)
    }

    /// Adds to an average of products, a lane for each spectrum: sum ← memory · sum + other · conj(spectrum).
    package func correlate(_ other: borrowing Spectrum, memory: Float, into sum: inout Spectrum) {
        precondition(other.lanes == 1 && sum.lanes == lanes)
        let first = bins.lowerBound
        unsafe vk_correlate(
            real.start + newest, imaginary.start + newest, 2 * lanes, other.real.start + first,
            other.imaginary.start + first, memory, sum.real.start + first * lanes,
            sum.imaginary.start + first * lanes, lanes, bins.count)
    }

    /// The sum over lanes of spectrum times weight.
    package func filter(by weights: borrowing Spectrum, into output: inout Spectrum) {
        precondition(weights.lanes == lanes && output.lanes == 1 && bins == 0..<Spectrum.bins)
        unsafe vk_filter(
            real.start + newest, imaginary.start + newest, 2 * lanes, weights.real.start, weights.imaginary.start,
            lanes, output.real.start, output.imaginary.start)
    }
}

/// Transforms between a real signal of 320 frames and its spectrum.
@usableFromInline
package struct BlockTransform: ~Copyable {
    /// Frames of a signal.
    @inlinable package static var frames: Int { Int(VK_FRAMES) }

    private let tables: RealVector
    private var whole = RealVector(count: frames)

    package init() {
        tables = RealVector(count: Int(VK_ALONE_TABLES))
        unsafe vk_prepare_alone(tables.start)
    }

    /// The spectrum of a vector's frames from `first` on.
    package func forward(_ frames: borrowing RealVector, from first: Int = 0, into spectrum: inout Spectrum) {
        precondition(first >= 0 && first + Self.frames <= frames.count && spectrum.lanes == 1)
        unsafe vk_forward_alone(
            tables.start, frames.start + first, nil, spectrum.real.start, spectrum.imaginary.start)
    }

    /// The spectrum of a line's frames.
    package func forward(_ line: borrowing DelayLine, into spectrum: inout Spectrum) {
        precondition(line.count == Self.frames && spectrum.lanes == 1)
        unsafe vk_forward_alone(tables.start, line.start, nil, spectrum.real.start, spectrum.imaginary.start)
    }

    /// The spectrum of a line's frames times a window.
    package func forward(_ line: borrowing DelayLine, window: borrowing RealVector, into spectrum: inout Spectrum) {
        precondition(line.count == Self.frames && window.count == Self.frames && spectrum.lanes == 1)
        unsafe vk_forward_alone(
            tables.start, line.start, window.start, spectrum.real.start, spectrum.imaginary.start)
    }

    /// The spectrum of silence followed by a block that is half as long as the transform.
    package mutating func forward(silenceThen block: borrowing RealVector, into spectrum: inout Spectrum) {
        precondition(2 * block.count == Self.frames && spectrum.lanes == 1)
        for index in 0..<block.count { whole[index] = 0 }
        whole.write(block, at: block.count)
        unsafe vk_forward_alone(
            tables.start, whole.start, nil, spectrum.real.start, spectrum.imaginary.start)
    }

    /// `frames.count` frames, from `first` on, of the signal that has the spectrum.
    package mutating func inverse(_ spectrum: borrowing Spectrum, from first: Int = 0, into frames: inout RealVector) {
        precondition(spectrum.lanes == 1 && first >= 0 && first + frames.count <= Self.frames)
        unsafe vk_inverse_alone(tables.start, spectrum.real.start, spectrum.imaginary.start, whole.start)
        frames.write(whole, from: first, count: frames.count, at: 0)
    }
}

/// The tables of transforms that take lanes of several signals at once.
package struct LaneTables: ~Copyable {
    package let values: RealVector

    package init() {
        values = RealVector(count: Int(VK_TABLES))
        unsafe vk_prepare_tables(values.start)
    }
}

/// Correlations by lags: the first half of the inverse transforms of so many neighbouring lanes of a spectrum.
package struct LagFrames: ~Copyable {
    package static let lanes = Int(VK_SEARCHED)
    /// Frames of a lane.
    package static let frames = Int(VK_FRAMES) / 2

    private let tables = LaneTables()
    private var time = RealVector(count: frames * lanes)
    /// For each lane the largest magnitude, the frame that has it, and the sum of all.
    package private(set) var largest = RealVector(count: lanes)
    /// See `largest`.
    package private(set) var frame = RealVector(count: lanes)
    /// See `largest`.
    package private(set) var sum = RealVector(count: lanes)

    package init() {}

    /// Transforms the lanes from `first` on.
    package mutating func take(_ spectrum: borrowing Spectrum, lanes first: Int) {
        precondition(first + Self.lanes <= spectrum.lanes)
        unsafe vk_lags(
            tables.values.start, spectrum.real.start + first, spectrum.imaginary.start + first, spectrum.lanes,
            time.start)
        unsafe vk_peaks(time.start, largest.start, frame.start, sum.start)
    }

    /// A frame of a lane.
    package subscript(lane: Int, frame: Int) -> Float { time[frame * Self.lanes + lane] }
}
