import ArgumentParser
import VoiceEngine

/// Which inputs of a sound card are the microphone.
struct CaptureChannels: ParsableArguments {
    @Option(
        name: .customLong("capture-channels"),
        help: ArgumentHelp(
            """
            The microphone's inputs of a sound card that has several, counted from 1: one, as 3; the mean of several, as 3-4; or all. \
            (default: 1-2)
            """, valueName: "inputs"))
    var mix: ChannelMix?

    /// Has the microphone be these inputs.
    func apply(to card: inout ALSADeviceConfiguration) {
        if let mix { card.captureChannels = mix }
    }
}

extension ChannelMix: ExpressibleByArgument {
    /// As interfaces number their inputs: `3`, `3-4` or `all`.
    public init?(argument: String) {
        if argument == "all" {
            self = .average
            return
        }
        let ends = argument.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        guard ends.count <= 2, let first = ends[0], let last = ends[ends.count - 1], first >= 1, first <= last,
            last <= Self.inputs
        else { return nil }
        self = .channels(first - 1...last - 1)
    }

    /// The inputs that a card can be asked for.
    private static var inputs: Int { 256 }
}
