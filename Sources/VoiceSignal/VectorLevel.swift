import CVoiceKernels

/// Which variants of the vector kernels run on this processor. Sound that passes them is the same to the bit only where
/// they are.
package enum VectorLevel {
    /// As the x86-64 psABI names them; `baseline` elsewhere.
    package static var name: String {
        switch vk_level() {
        case 4: "x86-64-v4"
        case 3: "x86-64-v3"
        default: "baseline"
        }
    }
}
