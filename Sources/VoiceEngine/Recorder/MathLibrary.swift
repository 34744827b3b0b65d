#if canImport(Glibc)
    internal import Glibc
#endif

/// The C library's functions, which round as the processor and the library's version have it: glibc has other variants
/// for processors with fused multiplications (FMA) than for those without.
package enum MathLibrary {
    /// A digest of what they make of some thousand numbers, in hexadecimal: sound that passes them is the same to the
    /// bit only where it is.
    package static let digest: String = {
        // FNV-1a of 64 bits.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func take(_ bits: UInt64) { hash = (hash ^ bits) &* 0x100_0000_01B3 }
        for step in 1...2_048 {
            let single = Float(step) * 0.0137
            for value in [
                expf(-single), logf(single), powf(single, 0.3), sinf(single), cosf(single), log10f(single),
                exp2f(-single), tanhf(single),
            ] { take(UInt64(value.bitPattern)) }
            let double = Double(step) * 0.0137
            for value in [exp(-double), log(double), pow(double, 0.3), sin(double), cos(double), log10(double)] {
                take(value.bitPattern)
            }
        }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }()
}
