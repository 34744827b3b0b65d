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

/// Up to eight real signals of 320 frames that are transformed together, which costs as much as one.
@usableFromInline
package struct TransformBatch: ~Copyable {
    /// Frames of a signal.
    @inlinable package static var frames: Int { Int(VK_FRAMES) }
    @inlinable package static var lanes: Int { Int(VK_LANES) }

    package let tables: RealVector
    @usableFromInline var time = RealVector(count: frames * lanes)
    private var spectrum = Spectrum(lanes: lanes)

    package init() {
        tables = RealVector(count: Int(VK_TABLES))
        unsafe vk_prepare_tables(tables.start)
    }

    /// Puts `length` frames, all by default, into a lane from `first` on; the lane's other frames are as they were.
    package mutating func setTime(
        _ lane: Int, _ frames: borrowing RealVector, from begin: Int = 0, count length: Int? = nil, at first: Int = 0
    ) {
        put(frames.span.extracting(begin..<begin + (length ?? frames.count - begin)), lane, at: first)
    }

    /// Puts a line's frames into a lane.
    package mutating func setTime(_ lane: Int, _ line: borrowing DelayLine) { put(line.span, lane, at: 0) }

    private mutating func put(_ frames: Span<Float>, _ lane: Int, at first: Int) {
        precondition(lane < Self.lanes && first + frames.count <= Self.frames)
        for index in frames.indices { time[(first + index) * Self.lanes + lane] = frames[index] }
    }

    /// Puts a line's frames times a window into a lane.
    package mutating func setTime(_ lane: Int, _ line: borrowing DelayLine, window: borrowing RealVector) {
        precondition(lane < Self.lanes && line.count == Self.frames && window.count == Self.frames)
        let frames = line.span
        for index in 0..<Self.frames { time[index * Self.lanes + lane] = frames[index] * window[index] }
    }

    /// Silences the first half of a lane.
    package mutating func clearFirstHalf(_ lane: Int) {
        for index in 0..<Self.frames / 2 { time[index * Self.lanes + lane] = 0 }
    }

    package mutating func setSpectrum(_ lane: Int, _ values: borrowing Spectrum) {
        precondition(lane < Self.lanes && values.lanes == 1)
        for bin in 0..<Spectrum.bins {
            spectrum.real[bin * Self.lanes + lane] = values.real[bin]
            spectrum.imaginary[bin * Self.lanes + lane] = values.imaginary[bin]
        }
    }

    package mutating func forward() {
        unsafe vk_forward(tables.start, time.start, spectrum.real.start, spectrum.imaginary.start)
    }

    package mutating func inverse() {
        unsafe vk_inverse(tables.start, spectrum.real.start, spectrum.imaginary.start, time.start)
    }

    package func getSpectrum(_ lane: Int, into values: inout Spectrum) {
        precondition(lane < Self.lanes && values.lanes == 1)
        for bin in 0..<Spectrum.bins {
            values.real[bin] = spectrum.real[bin * Self.lanes + lane]
            values.imaginary[bin] = spectrum.imaginary[bin * Self.lanes + lane]
        }
    }

    /// Takes `frames.count` frames of a lane, from `first` on.
    package func getTime(_ lane: Int, from first: Int, into frames: inout RealVector) {
        precondition(lane < Self.lanes && first + frames.count <= Self.frames)
        for index in 0..<frames.count { frames[index] = time[(first + index) * Self.lanes + lane] }
    }
}

/// Correlations by lags: the first half of the inverse transforms of so many neighbouring lanes of a spectrum.
package struct LagFrames: ~Copyable {
    package static let lanes = Int(VK_SEARCHED)
    /// Frames of a lane.
    package static let frames = Int(VK_FRAMES) / 2

    private let tables: RealVector
    private var time = RealVector(count: frames * lanes)
    /// For each lane the largest magnitude, the frame that has it, and the sum of all.
    package private(set) var largest = RealVector(count: lanes)
    /// See `largest`.
    package private(set) var frame = RealVector(count: lanes)
    /// See `largest`.
    package private(set) var sum = RealVector(count: lanes)

    package init() {
        tables = RealVector(count: Int(VK_TABLES))
        unsafe vk_prepare_tables(tables.start)
    }

    /// Transforms the lanes from `first` on.
    package mutating func take(_ spectrum: borrowing Spectrum, lanes first: Int) {
        precondition(first + Self.lanes <= spectrum.lanes)
        unsafe vk_lags(
            tables.start, spectrum.real.start + first, spectrum.imaginary.start + first, spectrum.lanes, time.start)
        unsafe vk_peaks(time.start, largest.start, frame.start, sum.start)
    }

    /// A frame of a lane.
    package subscript(lane: Int, frame: Int) -> Float { time[frame * Self.lanes + lane] }
}
