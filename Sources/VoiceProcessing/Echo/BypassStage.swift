/// Passes the microphone through as it is: the null backend.
final class BypassStage: EchoStage {
    let traits = {
        var traits = EchoTraits(library: "none")
        traits.cancels = false
        traits.hasNearEnd = false
        traits.takesShortBlocks = true
        return traits
    }()

    var delay: Int { 0 }

    func apply(_ settings: ProcessingSettings) -> Int? { nil }

    func run(capture: inout MutableSpan<Float>, reference: Span<Float>, delay: Int, report: inout ProcessingReport) {}
}
