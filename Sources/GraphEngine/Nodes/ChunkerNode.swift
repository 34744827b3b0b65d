internal import VoiceEngine

/// Cuts what it hears into chunks, as ``SpeechChunker`` does.
final class ChunkerNode: DrainingNode {
    /// Frames of 10 ms.
    private static let frame = SpeechChunk.sampleRate / 100

    private let setup: NodeSetup
    private let sound: SideSound
    private var cutter: ChunkCutter
    private var waiting: [Float] = []
    private var position = 0
    private var dropped = 0

    init(_ setup: NodeSetup) throws(GraphError) {
        self.setup = setup
        sound = try SideSound(setup.settings, rate: SpeechChunk.sampleRate)
        cutter = ChunkCutter(
            .atSilence(
                minimum: .milliseconds(setup.settings.integer("minimumMs")),
                maximum: .milliseconds(setup.settings.integer("maximumMs"))))
    }

    func process(_ input: borrowing GraphInput, into output: inout GraphOutput) { sound.write(input.sound()) }

    nonisolated(nonsending) func drain(waits: Bool) async {
        sound.read { waiting += $0 }
        cutWaiting()
    }

    nonisolated(nonsending) func finish() async {
        sound.finish { waiting += $0 }
        cutWaiting()
        if !waiting.isEmpty { insert(waiting) }
        waiting = []
        if let rest = cutter.finish() { give(rest) }
    }

    private func cutWaiting() {
        var used = 0
        while waiting.count - used >= Self.frame {
            insert(Array(waiting[used..<used + Self.frame]))
            used += Self.frame
        }
        waiting.removeFirst(used)
    }

    private func insert(_ samples: [Float]) {
        let time = Self.time(position)
        let isAfterGap = sound.droppedFrames > dropped
        dropped = sound.droppedFrames
        position += samples.count
        cutter.insert(SoundFrame(samples: samples, time: time, isAfterGap: isAfterGap)).forEach(give)
    }

    /// When a frame was, since the start of the sound. Whole seconds apart, since frames times 10^9 overflow after six
    /// days.
    static func time(_ frame: Int) -> Duration {
        let rate = SpeechChunk.sampleRate
        return .seconds(frame / rate) + .nanoseconds(frame % rate * 1_000_000_000 / rate)
    }

    private func give(_ chunk: SpeechChunk) {
        let start = chunk.time / .seconds(1)
        let end = start + Double(chunk.samples.count) / Double(SpeechChunk.sampleRate)
        let values: [String: GraphValue] = [
            "start": .number(start), "end": .number(end), "isSilent": .bool(chunk.isSilent),
            "isAfterGap": .bool(chunk.isAfterGap),
        ]
        setup.tell("chunk", values, chunk.samples)
    }
}
