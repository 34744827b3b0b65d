import CVoiceKernels

// Functions of many numbers at once, by polynomials: within a few units in the last place of the C library's, and ten
// times as fast.
extension FixedArray<Float> {
    /// 1 / (1 + exp(−x)) of each.
    package mutating func takeLogistic() { unsafe vk_logistic(start, count) }

    /// tanh(x) of each.
    package mutating func takeHyperbolicTangent() { unsafe vk_hyperbolic_tangent(start, count) }

    /// log10(x + least) of each in `range`; the sums are normal numbers above 0.
    package mutating func takeCommonLogarithm(in range: Range<Int>, adding least: Float) {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        unsafe vk_common_logarithm(start + range.lowerBound, least, range.count)
    }

    /// x to the power of `exponent` of each: x is 1e-30...1, the exponent 0...1.
    package mutating func raise(to exponent: Float) {
        if exponent != 1 { unsafe vk_power(start, exponent, count) }
    }

    /// Takes as many numbers from `first` on off those of `range`, and bounds what is left to ±`most`.
    package mutating func subtract(from first: Int, in range: Range<Int>, most: Float) {
        precondition(range.lowerBound >= 0 && range.upperBound <= count && first >= 0 && first + range.count <= count)
        unsafe vk_relative(start + range.lowerBound, start + first, most, range.count)
    }

    /// Bounds those of `range` to ±`most`.
    package mutating func bound(in range: Range<Int>, to most: Float) {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        unsafe vk_bound(start + range.lowerBound, -most, most, range.count)
    }

    /// Those of `range` times `factor`, and `more`.
    package mutating func scale(in range: Range<Int>, by factor: Float, adding more: Float) {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        unsafe vk_scale(start + range.lowerBound, factor, more, range.count)
    }

    /// Bounds all to a range.
    package mutating func bound(to range: ClosedRange<Float>) {
        unsafe vk_bound(start, range.lowerBound, range.upperBound, count)
    }

    /// Adds `length` values of another vector, from `first` on, to the first of these.
    package mutating func add(_ other: borrowing RealVector, from first: Int = 0, count length: Int) {
        precondition(length <= count && first >= 0 && first + length <= other.count)
        unsafe vk_add(other.start + first, start, length)
    }

    /// Becomes a · b where that is more.
    package mutating func raise(toProductOf a: borrowing RealVector, _ b: borrowing RealVector) {
        precondition(a.count == count && b.count == count)
        unsafe vk_raise_to_product(a.start, b.start, start, count)
    }

    /// ⁴√(x + least) of each; the sums are not negative.
    package mutating func takeFourthRoot(adding least: Float) { unsafe vk_fourth_root(start, least, count) }

    /// The largest of a range that is not empty.
    package func largest(in range: Range<Int>) -> Float {
        precondition(range.lowerBound >= 0 && range.upperBound <= count && !range.isEmpty)
        return unsafe vk_largest(start + range.lowerBound, range.count)
    }

    /// Multiplies by as many factors.
    package mutating func scale(by factors: borrowing RealVector) {
        precondition(factors.count == count)
        unsafe vk_multiply(factors.start, start, count)
    }

    /// Multiplies by as many factors; what is below `least` becomes that.
    package mutating func scale(by factors: borrowing RealVector, notBelow least: Float) {
        precondition(factors.count == count)
        unsafe vk_scale_not_below(start, factors.start, least, count)
    }

    /// Becomes a − b.
    package mutating func takeDifference(of a: borrowing RealVector, _ b: borrowing RealVector) {
        precondition(a.count == count && b.count == count)
        unsafe vk_difference(a.start, b.start, start, count)
    }

    /// Becomes x(n) − factor · x(n−1), `last` being the frame before the first, and the last one afterwards.
    package mutating func takeEmphasised(_ frames: borrowing RealVector, by factor: Float, after last: inout Float) {
        precondition(frames.count == count && count > 0)
        unsafe vk_emphasise(frames.start, factor, last, start, count)
        last = frames[count - 1]
    }

    /// Becomes the first of `values` less their means, times a slope each.
    package mutating func take(
        _ values: borrowing RealVector, lessMean mean: borrowing RealVector, times slope: borrowing RealVector
    ) {
        precondition(values.count >= count && mean.count == count && slope.count == count)
        unsafe vk_normalise(values.start, mean.start, slope.start, start, count)
    }

    /// An average: moves towards the values by `weight` of the way.
    package mutating func follow(_ values: borrowing RealVector, weight: Float) {
        precondition(values.count == count)
        unsafe vk_follow(values.start, weight, start, count)
    }

    /// The same of a spectrum's powers.
    package mutating func follow(powersOf spectrum: borrowing Spectrum, weight: Float) {
        precondition(spectrum.real.count == count)
        unsafe vk_follow_powers(spectrum.real.start, spectrum.imaginary.start, weight, start, count)
    }

    /// Becomes the powers of complex numbers whose parts these are.
    package mutating func write(powersOf real: borrowing RealVector, _ imaginary: borrowing RealVector) {
        precondition(real.count == count && imaginary.count == count)
        unsafe vk_powers(real.start, imaginary.start, start, count)
    }

    /// Takes a spectrum's powers from `first` on.
    package mutating func write(powersOf spectrum: borrowing Spectrum, at first: Int = 0) {
        precondition(first >= 0 && first + spectrum.real.count <= count)
        unsafe vk_powers(spectrum.real.start, spectrum.imaginary.start, start + first, spectrum.real.count)
    }
}
