import CVoiceKernels
import Glibc

/// Reads a signal at fractional, evenly spaced positions: a windowed sinc, 32 taps for each of 256 fractions and
/// straight lines between the fractions' taps.
///
/// Flat to 0.1 dB up to 0.88 of half the sample rate, its error there below -80 dB; the positions may be anything, so a
/// clock's drift is followed without a step. Real-time safe after `init`.
@usableFromInline
package struct SincInterpolator: ~Copyable {
    /// Frames on each side of a position that are read.
    @inlinable package static var reach: Int { 16 }
    private static let taps = 2 * reach
    /// Fractions with taps of their own: straight lines between them are then good to (π/256)²/8, -94 dB.
    private static let phases = 256
    /// Kaiser's window parameter for 80 dB beyond the transition (Kaiser, 1974: 0.1102 (80 - 8.7)).
    private static let kaiser = 7.86
    /// Cut-off as a share of half the sample rate; what reaches the transition band above is let through as it is,
    /// since the step is within a thousandth of 1 and nothing can alias.
    private static let cutoff = 1.0

    private var rows: RealVector

    /// An interpolator; computes its taps.
    package init() {
        rows = RealVector(count: (Self.phases + 1) * Self.taps)
        for phase in 0...Self.phases {
            let fraction = Double(phase) / Double(Self.phases)
            let row = phase * Self.taps
            var sum = 0.0
            for tap in 0..<Self.taps {
                let value = Self.kernel(Double(tap - Self.reach + 1) - fraction)
                rows[row + tap] = Float(value)
                sum += value
            }
            for tap in 0..<Self.taps { rows[row + tap] /= Float(sum) }
        }
    }

    /// Writes `count` values at the positions `start`, `start + step`, ... of `input`, position 0 being `input[0]`.
    ///
    /// The frames from `floor(start) - reach + 1` to `floor(last position) + reach` must be there.
    @unsafe
    package func read(
        _ input: UnsafePointer<Float>, from start: Double, step: Double, into output: UnsafeMutablePointer<Float>,
        count: Int
    ) {
        unsafe vk_resample(input, start, step, rows.start, Self.phases, Self.taps, output, count)
    }

    /// The same between spans; fills `output`. What must be there and is not is a mistake of the caller's.
    package func read(_ input: Span<Float>, from start: Double, step: Double, into output: inout MutableSpan<Float>) {
        let count = output.count
        guard count > 0 else { return }
        let last = Int((start + step * Double(count - 1)).rounded(.down))
        let first = Int(start.rounded(.down))
        precondition(first >= Self.reach - 1 && last + Self.reach < input.count, "read beyond the input")
        unsafe input.withUnsafeBufferPointer { input in
            unsafe output.withUnsafeMutableBufferPointer { output in
                guard let from = input.baseAddress, let to = output.baseAddress else { return }
                unsafe read(from, from: start, step: step, into: to, count: count)
            }
        }
    }

    private static func kernel(_ x: Double) -> Double {
        let y = x / Double(reach)
        guard abs(y) < 1 else { return 0 }
        let sinc = x == 0 ? 1 : sin(Double.pi * cutoff * x) / (Double.pi * x)
        return sinc * besselI0(kaiser * (1 - y * y).squareRoot()) / besselI0(kaiser)
    }

    /// Modified Bessel function of the first kind, order 0, by its power series.
    package static func besselI0(_ x: Double) -> Double {
        var sum = 1.0
        var term = 1.0
        for n in 1...40 {
            term *= (x / 2 / Double(n)) * (x / 2 / Double(n))
            sum += term
        }
        return sum
    }
}
