import CVoiceKernels
import VoiceSignal

/// The linear stage: estimates the echo and learns the path from what is left.
///
/// A partitioned-block frequency-domain Kalman filter (Enzner and Vary, "Frequency-domain adaptive Kalman filter for
/// acoustic echo control in hands-free telephones", Signal Processing 86, 2006; partitions after Soo and Pang,
/// "Multidelay block frequency domain adaptive filter", 1990), every partition constrained in every block. Partition m
/// and bin k have a weight W and the variance P of its error; the observation noise S is what the near end and the
/// unmodelled echo put into the error:
///
///     Y = Σ X·W        E = D − Y        S ← |E|², averaged       U = ½ Σ P|X|²
///     W += constrain(P X* E / (U + S))
///     P ← A² (1 − ½ P|X|² / (U + S)) P + (1 − A²)|W|²
///
/// There is no step size to choose and no double-talk detector: while the near end talks S is large and the filter
/// learns the less. S is averaged over time and over the bins around: of one bin alone it is large just where the
/// filter is wrong, which then learns the slower. U is the power of its own error in the echo estimate, as it sees it;
/// the suppressor is driven by it. The partitions are lanes of ``ReferenceSpectra``: linear and, after those, of the
/// loudspeaker's cubic distortion.
struct EchoPathFilter: ~Copyable {
    /// How it learns.
    struct Tuning {
        /// State transition A per 10 ms: how much of the path stays.
        var memory: Float
        /// Weight of the past in the observation noise, per 10 ms.
        var noiseMemory: Float
        /// Bins to each side whose error counts for a bin's observation noise; each is 50 Hz.
        var noiseReach: Int
    }

    /// Least observation noise, squared spectrum: -100 dBFS of white noise would have 160 × 1e-10.
    private static let leastNoise: Float = 1e-8

    /// Bins to each side over which two paths of one room have the same power: 200 Hz.
    private static let similar = 4

    let lanes: Int
    var tuning: Tuning
    private(set) var weights: Spectrum
    /// Variance of the weights' error, rows as in the weights.
    private(set) var variance: RealVector
    private var noise: RealVector
    private var errorPower: RealVector
    private var gain: RealVector
    /// Power of the filter's own error in each bin of the last echo estimate before it learned, U.
    private(set) var uncertainty: RealVector

    init(lanes: Int, tuning: Tuning) {
        self.lanes = lanes
        precondition((0...Int(VK_REACH)).contains(tuning.noiseReach))
        self.tuning = tuning
        weights = Spectrum(lanes: lanes)
        variance = RealVector(count: Spectrum.bins * lanes)
        noise = RealVector(count: Spectrum.bins, repeating: 1e-4)
        errorPower = RealVector(count: Spectrum.bins)
        gain = RealVector(count: Spectrum.bins)
        uncertainty = RealVector(count: Spectrum.bins)
    }

    /// The spectrum whose inverse transform holds the echo in its second half.
    func estimate(_ reference: borrowing Spectrum, into output: inout Spectrum) {
        precondition(reference.lanes >= lanes && output.lanes == 1)
        unsafe vk_filter(
            reference.real.start, reference.imaginary.start, reference.lanes, weights.real.start,
            weights.imaginary.start, lanes, output.real.start, output.imaginary.start)
    }

    /// The same, and ``uncertainty`` of it.
    mutating func estimate(_ reference: borrowing Spectrum, withUncertaintyInto output: inout Spectrum) {
        precondition(output.lanes == 1)
        unsafe withPath(reference) {
            unsafe vk_estimate($0, output.real.start, output.imaginary.start, uncertainty.start)
        }
    }

    /// Learns from the error of the last estimate, whose spectrum is that of a block of silence followed by it.
    ///
    /// - Parameter output: the estimate by what is known then.
    mutating func learn(
        _ reference: borrowing Spectrum, error: borrowing Spectrum, tables: borrowing LaneTables,
        into output: inout Spectrum
    ) {
        precondition(output.lanes == 1)
        unsafe learn(reference, error: error, tables, output.real.start, output.imaginary.start)
    }

    /// The same without an estimate.
    mutating func learn(
        _ reference: borrowing Spectrum, error: borrowing Spectrum, tables: borrowing LaneTables
    ) {
        unsafe learn(reference, error: error, tables, nil, nil)
    }

    @unsafe
    private mutating func learn(
        _ reference: borrowing Spectrum, error: borrowing Spectrum, _ tables: borrowing LaneTables,
        _ real: UnsafeMutablePointer<Float>?, _ imaginary: UnsafeMutablePointer<Float>?
    ) {
        precondition(error.lanes == 1)
        unsafe vk_mean_power(error.real.start, error.imaginary.start, tuning.noiseReach, errorPower.start)
        noise.follow(errorPower, weight: 1 - tuning.noiseMemory)
        unsafe vk_reciprocals(uncertainty.start, noise.start, Self.leastNoise, gain.start, Spectrum.bins)
        unsafe withPath(reference) {
            unsafe vk_learn(
                tables.values.start, $0, error.real.start, error.imaginary.start, gain.start, tuning.memory, real,
                imaginary)
        }
    }

    @unsafe
    private func withPath(_ reference: borrowing Spectrum, _ body: (UnsafePointer<vk_path>) -> Void) {
        precondition(reference.lanes >= lanes)
        var path = unsafe vk_path(
            x_real: reference.real.start, x_imaginary: reference.imaginary.start, x_stride: reference.lanes,
            w_real: weights.real.start, w_imaginary: weights.imaginary.start, variance: variance.start, lanes: lanes)
        unsafe body(&path)
    }

    /// Forgets the path and expects an error of `variance(lane)` in each lane.
    mutating func restart(variance expected: (_ lane: Int) -> Float) {
        weights.clear()
        for lane in 0..<lanes {
            let value = expected(lane)
            for bin in 0..<Spectrum.bins { variance[bin * lanes + lane] = value }
        }
    }

    /// Raises what is expected of the error to this at least.
    mutating func expect(atLeast expected: (_ lane: Int) -> Float) {
        for lane in 0..<lanes {
            let value = expected(lane)
            for bin in 0..<Spectrum.bins {
                variance[bin * lanes + lane] = max(variance[bin * lanes + lane], value)
            }
        }
    }

    /// The same, times a level of each bin.
    mutating func expect(levels: borrowing RealVector, atLeast expected: (_ lane: Int) -> Float) {
        precondition(levels.count == Spectrum.bins)
        for lane in 0..<lanes {
            let value = expected(lane)
            for bin in 0..<Spectrum.bins {
                let place = bin * lanes + lane
                variance[place] = max(variance[place], value * levels[bin])
            }
        }
    }

    /// The filter's own error in the last estimate, which was of this reference, has this power at least in each bin: so
    /// raises what is expected of the weights, up to their own power, since an estimate that is too loud is wrong by no
    /// more than all of it.
    mutating func expect(error power: borrowing RealVector, of reference: borrowing Spectrum) {
        precondition(power.count == Spectrum.bins && reference.lanes >= lanes)
        for bin in 0..<Spectrum.bins where power[bin] > uncertainty[bin] {
            let factor = power[bin] / (uncertainty[bin] + Self.leastNoise)
            var own: Float = 0
            for lane in 0..<lanes {
                let place = bin * lanes + lane
                variance[place] = max(variance[place], min(factor * variance[place], weights.power(place)))
                own += variance[place] * reference.power(bin * reference.lanes + lane)
            }
            uncertainty[bin] = 0.5 * own
        }
    }

    /// Any path of the same level and decay may be the true one, up to lane `end`: expects in each bin the error of two
    /// paths, this and another, that have the power which this one has over the neighbouring bins.
    mutating func expectAnotherPath(upTo end: Int) {
        let reach = Self.similar
        for lane in 0..<end {
            var sum: Float = 0
            for bin in 0..<reach { sum += weights.power(bin * lanes + lane) }
            for bin in 0..<Spectrum.bins {
                if bin + reach < Spectrum.bins { sum += weights.power((bin + reach) * lanes + lane) }
                if bin > reach { sum -= weights.power((bin - reach - 1) * lanes + lane) }
                let index = bin * lanes + lane
                variance[index] = max(variance[index], 2 * max(0, sum) / Float(2 * reach + 1))
            }
        }
    }

    /// The reference is delayed by so many partitions more: what was in a lane is in an earlier one. Of lanes that come
    /// in, nothing is known but an error of `variance(lane)`.
    ///
    /// - Parameter linear: lanes of the linear path, before those of the cubic one.
    mutating func shift(by partitions: Int, linear: Int, variance expected: (_ lane: Int) -> Float) {
        shift(by: partitions, in: 0..<min(linear, lanes), expected)
        shift(by: partitions, in: min(linear, lanes)..<lanes, expected)
    }

    private mutating func shift(by partitions: Int, in range: Range<Int>, _ expected: (_ lane: Int) -> Float) {
        for place in 0..<range.count {
            let lane = partitions > 0 ? range.lowerBound + place : range.upperBound - 1 - place
            let isKnown = range.contains(lane + partitions)
            let fresh = isKnown ? 0 : expected(lane)
            for bin in 0..<Spectrum.bins {
                let (to, from) = (bin * lanes + lane, bin * lanes + lane + partitions)
                weights.real[to] = isKnown ? weights.real[from] : 0
                weights.imaginary[to] = isKnown ? weights.imaginary[from] : 0
                variance[to] = isKnown ? variance[from] : fresh
            }
        }
    }

    /// The path's gain has changed, nothing else.
    mutating func scale(by factor: Float) {
        for index in 0..<weights.real.count {
            weights.real[index] *= factor
            weights.imaginary[index] *= factor
            variance[index] *= factor * factor
        }
    }

    /// Takes over weights and variances of a filter with as many lanes.
    mutating func copy(from other: borrowing EchoPathFilter) {
        weights.copy(from: other.weights)
        variance.copy(from: other.variance)
    }

    /// Takes over the lanes that a shorter filter has, with its variances, and expects the longer part to have changed
    /// in the share `changed` of its power, up to lane `end`.
    mutating func adopt(_ other: borrowing EchoPathFilter, changed: Float, upTo end: Int) {
        for bin in 0..<Spectrum.bins {
            for lane in 0..<other.lanes {
                let (to, from) = (bin * lanes + lane, bin * other.lanes + lane)
                weights.real[to] = other.weights.real[from]
                weights.imaginary[to] = other.weights.imaginary[from]
                variance[to] = other.variance[from]
            }
            for lane in other.lanes..<end {
                let to = bin * lanes + lane
                variance[to] = max(variance[to], changed * weights.power(to))
            }
        }
    }

    /// Takes over the first lanes of a longer filter; the variances only rise, so that this one stays quick.
    mutating func follow(_ other: borrowing EchoPathFilter) {
        for bin in 0..<Spectrum.bins {
            for lane in 0..<lanes {
                let (to, from) = (bin * lanes + lane, bin * other.lanes + lane)
                weights.real[to] = other.weights.real[from]
                weights.imaginary[to] = other.weights.imaginary[from]
                variance[to] = max(variance[to], other.variance[from])
            }
        }
    }
}
