import Glibc

/// The C library's functions as processors without fused multiplications (FMA) have them, which round differently: a
/// recording of such a processor is replayed with them.
enum CommonMathematics {
    private static let variable = "GLIBC_TUNABLES"

    /// Starts this program anew with them, as glibc chooses while it loads. Returns where that has been done already, or
    /// cannot be.
    static func use() {
        guard unsafe getenv(variable) == nil else { return }
        unsafe setenv(variable, "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4", 1)
        var arguments = unsafe CommandLine.arguments.map { unsafe strdup($0) } + [nil]
        unsafe execv("/proc/self/exe", &arguments)
        unsafe unsetenv(variable)
    }
}
