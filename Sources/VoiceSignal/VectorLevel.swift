import CVoiceKernels

/// Which variants of the vector kernels run. Sound that passes them is the same to the bit only where they are.
package enum VectorLevel: Int32, CaseIterable {
    /// As the x86-64 psABI names them.
    case v4 = 4
    case v3 = 3
    case baseline = 1

    /// As recordings and reports name it.
    package var name: String {
        switch self {
        case .v4: "x86-64-v4"
        case .v3: "x86-64-v3"
        case .baseline: Self.baselineName
        }
    }

    /// Elsewhere the baseline rounds as its machine does.
    private static var baselineName: String {
        #if arch(x86_64)
            "x86-64"
        #elseif arch(arm64)
            "aarch64"
        #else
            "baseline"
        #endif
    }

    /// The level with a name.
    package init?(name: String) {
        guard let level = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = level
    }

    /// What runs now: the highest that the processor has, unless another was asked for.
    package static var current: VectorLevel { VectorLevel(rawValue: vk_level()) ?? .baseline }

    /// Has this level's kernels run in the whole process. Returns whether the processor has them.
    package func use() -> Bool { vk_use_level(rawValue) != 0 }
}
