internal import VoiceProcessing

/// A ``ProcessingChain``: echo, noise, gain.
final class ProcessorNode: GraphNode {
    private var chain: ProcessingChain
    private let block: Int
    private let silence: [Float]

    init(_ setup: NodeSetup) throws(GraphError) {
        let settings = setup.settings
        block = settings.sampleRate / 100
        silence = [Float](repeating: 0, count: block)
        let backend = ProcessingBackend.builtIn.first { $0.name == settings.text("backend") } ?? .native
        do throws(ProcessingError) {
            chain = try ProcessingChain(
                sampleRate: settings.sampleRate, settings: Self.wanted(settings), backend: backend)
        } catch {
            throw GraphError(node: settings.id, field: "backend", "'\(backend.name)' cannot be made: \(error)")
        }
    }

    private static func wanted(_ settings: NodeSettings) -> ProcessingSettings {
        var wanted = ProcessingSettings()
        wanted.echo =
            ["off": .off, "soft": .soft, "medium": .medium, "aggressive": .aggressive][settings.text("echo")] ?? .auto
        wanted.noise =
            ["off": .off, "low": .low, "moderate": .moderate, "high": .high][settings.text("noise")] ?? .veryHigh
        wanted.gain = settings.text("gain") == "off" ? .off : .conversation
        wanted.highPass = settings.bool("highPass")
        return wanted
    }

    func process(_ input: borrowing GraphInput, into output: inout GraphOutput) {
        let sound = input.sound()
        var cleaned = output.sound()
        for index in 0..<input.frames { cleaned[index] = sound[index] }
        let hasReference = input.channels(1) > 0
        let reference = input.sound(hasReference ? 1 : 0)
        let silence = silence
        var start = 0
        while start < input.frames {
            var part = cleaned._mutatingExtracting(start..<start + block)
            if hasReference {
                let played = reference.extracting(start..<start + block)
                _ = chain.run(capture: &part, reference: played)
            } else {
                _ = chain.run(capture: &part, reference: silence.span)
            }
            start += block
        }
    }
}
