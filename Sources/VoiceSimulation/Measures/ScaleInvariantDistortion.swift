import Glibc

/// How much of an estimate is not the reference, whatever its gain, delay and, as far as a short filter goes, its
/// colour.
///
/// With one tap this is the scale-invariant SDR (J. Le Roux et al., "SDR - half-baked or well done?", ICASSP 2019);
/// with more, the SDR of BSS Eval (E. Vincent et al., IEEE TASLP 2006), which forgives a filter of that length, such as
/// a high-pass.
package enum ScaleInvariantDistortion {
    /// Taps that forgive the filters of an ordinary capture path: 2.7 ms at 48 kHz.
    package static let usualTaps = 128
    /// What the reference's power is raised by to keep the fit stable: -120 dB.
    private static let regularisation = 1e-12

    /// Signal-to-distortion ratio in dB: energy of the best filtered reference over energy of what it leaves of the
    /// estimate.
    ///
    /// Nil when either is silent where they overlap; at most about 120 dB. Pure; allocates a few
    /// values per tap; time grows with length times taps.
    /// - Parameters:
    ///   - estimate: the signal to be judged.
    ///   - reference: what it should be.
    ///   - delayFrames: how much later the estimate is, as `SignalAlignment` finds it. The fitted filter is centred on
    ///     it.
    ///   - taps: length of the fitted filter; 1 fits a gain only.
    package static func ratioDecibels(
        estimate: Span<Float>, reference: Span<Float>, delayFrames: Int = 0, taps: Int = 1
    ) -> Double? {
        precondition(taps >= 1, "a filter has taps")
        // Tap k weights reference[n - k] against estimate[n + shift].
        let shift = delayFrames - taps / 2
        let from = max(taps - 1, -shift)
        let to = min(reference.count, estimate.count - shift)
        guard from < to else { return nil }
        let range = from..<to
        let energy = meanPower(estimate, from + shift..<to + shift) * Double(range.count)
        guard energy > 0, meanPower(reference, range) > 0 else { return nil }
        var normal = covariance(reference, range, taps: taps)
        let cross = (0..<taps).map { tap in
            product(estimate, shift, reference, -tap, range)
        }
        guard let filter = solve(&normal, cross) else { return nil }
        // At the least-squares solution the explained energy is the projection on the cross terms.
        var explained = 0.0
        for tap in 0..<taps { explained += filter[tap] * cross[tap] }
        let rest = max(energy - explained, energy * regularisation)
        return decibels(explained / rest)
    }

    /// Sum over the range of a[n + p] * b[n + q].
    private static func product(
        _ a: Span<Float>, _ p: Int, _ b: Span<Float>, _ q: Int, _ range: Range<Int>
    ) -> Double {
        var sum = 0.0
        for index in range { sum += Double(a[index + p]) * Double(b[index + q]) }
        return sum
    }

    /// The products of the reference with itself at all pairs of delays. Only the first row takes the whole range; each
    /// entry further down a diagonal differs from the one before by the samples at the range's ends.
    private static func covariance(_ x: Span<Float>, _ range: Range<Int>, taps: Int) -> [[Double]] {
        var matrix = [[Double]](repeating: [Double](repeating: 0, count: taps), count: taps)
        for column in 0..<taps {
            matrix[0][column] = product(x, 0, x, -column, range)
            matrix[column][0] = matrix[0][column]
        }
        for row in 1..<max(taps, 1) {
            for column in row..<taps {
                let entering = Double(x[range.lowerBound - row]) * Double(x[range.lowerBound - column])
                let leaving = Double(x[range.upperBound - row]) * Double(x[range.upperBound - column])
                matrix[row][column] = matrix[row - 1][column - 1] + entering - leaving
                matrix[column][row] = matrix[row][column]
            }
        }
        // A reference without energy in some band leaves the filter free there; this keeps it small.
        for tap in 0..<taps { matrix[tap][tap] *= 1 + regularisation }
        return matrix
    }

    /// Cholesky's method; nil when the matrix is not positive definite.
    private static func solve(_ matrix: inout [[Double]], _ right: [Double]) -> [Double]? {
        let count = right.count
        for column in 0..<count {
            for row in column..<count {
                var sum = matrix[row][column]
                for k in 0..<column { sum -= matrix[row][k] * matrix[column][k] }
                if row == column {
                    guard sum > 0 else { return nil }
                    matrix[row][row] = sum.squareRoot()
                } else {
                    matrix[row][column] = sum / matrix[column][column]
                }
            }
        }
        var solution = right
        for row in 0..<count {
            for k in 0..<row { solution[row] -= matrix[row][k] * solution[k] }
            solution[row] /= matrix[row][row]
        }
        for row in (0..<count).reversed() {
            for k in row + 1..<count { solution[row] -= matrix[k][row] * solution[k] }
            solution[row] /= matrix[row][row]
        }
        return solution
    }
}
