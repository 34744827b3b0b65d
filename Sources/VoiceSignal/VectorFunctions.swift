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
}
