internal import VoiceEngine

/// A ``LocalFarEnd``: says what it hears, gives what that hears of the near end.
final class FarEndNode: GraphNode {
    private let farEnd: LocalFarEnd
    private let rate: SoundRate

    init(_ setup: NodeSetup) throws(GraphError) {
        let name = setup.settings.text("name")
        guard let farEnd = setup.environment.farEnds[name] else {
            let known = setup.environment.farEnds.keys.sorted().joined(separator: ", ")
            throw GraphError(
                node: setup.settings.id, field: "name",
                "the engine was given no far end '\(name)'; \(known.isEmpty ? "it was given none" : "use \(known)")")
        }
        guard let rate = SoundRate(rawValue: setup.settings.sampleRate) else {
            throw GraphError(node: setup.settings.id, field: "sampleRate", "is no rate of a far end")
        }
        self.farEnd = farEnd
        self.rate = rate
    }

    func process(_ input: borrowing GraphInput, into output: inout GraphOutput) {
        if input.channels() > 0 { _ = farEnd.offer(input.sound(), rate: rate, utterance: 1) }
        var near = output.sound()
        let taken = farEnd.takeNearEnd(into: &near).frames
        for index in taken..<input.frames { near[index] = 0 }
    }
}
