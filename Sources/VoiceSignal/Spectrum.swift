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

/// Spectra one after the other, parts apart, each in a row that begins at a vector of the kernels.
package struct SpectrumRows: ~Copyable {
    /// How much of a spectrum a row has.
    package enum Width {
        case whole
        /// The bins that a search looks at: below 4.8 kHz.
        case searched
    }

    package let count: Int
    /// Numbers of a row.
    package let bins: Int
    package private(set) var real: RealVector
    package private(set) var imaginary: RealVector

    package init(count: Int, width: Width) {
        self.count = count
        bins = Int(width == .whole ? VK_WHOLE_BINS : VK_SEARCHED_BINS)
        real = RealVector(count: count * bins)
        imaginary = RealVector(count: count * bins)
    }

    package mutating func clear() {
        real.fill(0)
        imaginary.fill(0)
    }

    /// Takes a spectrum as a row.
    package mutating func write(_ spectrum: borrowing Spectrum, at row: Int) {
        precondition(spectrum.lanes == 1)
        let length = min(bins, Spectrum.bins)
        real.write(spectrum.real, from: 0, count: length, at: row * bins)
        imaginary.write(spectrum.imaginary, from: 0, count: length, at: row * bins)
    }

    /// Takes a spectrum's first lanes as rows.
    package mutating func write(lanesOf spectrum: borrowing Spectrum) {
        for row in 0..<count {
            for bin in 0..<min(bins, Spectrum.bins) {
                real[row * bins + bin] = spectrum.real[bin * spectrum.lanes + row]
                imaginary[row * bins + bin] = spectrum.imaginary[bin * spectrum.lanes + row]
            }
        }
    }
}

/// The newest spectra of a signal as lanes, the newest first. None is moved when another comes: it takes the oldest
/// one's row.
package struct SpectrumHistory: ~Copyable {
    package let lanes: Int
    private var rows: SpectrumRows
    /// The newest one's row.
    private var newest = 0

    package init(lanes: Int, width: SpectrumRows.Width) {
        self.lanes = lanes
        rows = SpectrumRows(count: lanes, width: width)
    }

    /// Takes the next one, for the oldest.
    package mutating func push(_ new: borrowing Spectrum) {
        newest = (newest == 0 ? lanes : newest) - 1
        rows.write(new, at: newest)
    }

    /// Adds to averages of products, a row for each lane: sum ← memory · sum + other · conj(lane), by the newest of
    /// `other` or by both of the newest two, with the lanes as they were then.
    ///
    /// - Parameter first: the first of as many neighbouring lanes as ``LagFrames`` takes.
    package func correlate(
        _ other: borrowing SpectrumHistory, blocks: Int, memory: Float, lanes first: Int, into sum: inout SpectrumRows
    ) {
        precondition(first >= 0 && first + LagFrames.lanes < lanes && first + LagFrames.lanes <= sum.count)
        precondition((1...2).contains(blocks) && other.lanes >= 2 && sum.bins == LagFrames.bins)
        precondition(rows.bins == LagFrames.bins && other.rows.bins == LagFrames.bins)
        var (u, d) = unsafe (kernels, other.kernels)
        let start = first * sum.bins
        unsafe vk_correlate(
            &u, &d, blocks, memory, first, sum.real.start + start, sum.imaginary.start + start)
    }

    /// The sum over lanes of spectrum times weight.
    package func filter(by weights: borrowing SpectrumRows, into output: inout Spectrum) {
        precondition(weights.count == lanes && lanes.isMultiple(of: 4) && output.lanes == 1)
        precondition(weights.bins == Int(VK_WHOLE_BINS) && rows.bins == weights.bins)
        var x = unsafe kernels
        unsafe vk_filter_history(
            &x, weights.real.start, weights.imaginary.start, lanes, output.real.start, output.imaginary.start)
    }

    /// As the kernels take it.
    @unsafe private var kernels: vk_history {
        unsafe vk_history(
            real: rows.real.start, imaginary: rows.imaginary.start, stride: rows.bins, slots: lanes, newest: newest)
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

/// Correlations by lags: the first half of the inverse transforms of so many spectra, times the transform's frames.
package struct LagFrames: ~Copyable {
    package static let lanes = Int(VK_SEARCHED)
    /// Bins of a spectrum's row.
    package static let bins = Int(VK_SEARCHED_BINS)
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

    /// Transforms the rows from `first` on.
    package mutating func take(_ spectra: borrowing SpectrumRows, rows first: Int) {
        precondition(first >= 0 && first + Self.lanes <= spectra.count && spectra.bins == Self.bins)
        let start = first * Self.bins
        unsafe vk_lags(
            tables.values.start, spectra.real.start + start, spectra.imaginary.start + start, time.start,
            largest.start, frame.start, sum.start)
    }

    /// A frame of a lane.
    package subscript(lane: Int, frame: Int) -> Float { time[frame * Self.lanes + lane] }
}
