import VoiceDevices
import VoiceSimulation

/// A cable that is `delayFrames` long, with a hiss on it.
struct LongCable: AcousticAir {
    private var line: [Float]
    private var position = 0
    private var random: SeededGenerator
    private let gain: Float
    private let hiss: Double

    init(delayFrames: Int, gain: Float = 1, hiss: Double = 0, seed: UInt64 = 1) {
        line = Array(repeating: 0, count: max(delayFrames, 1))
        self.gain = gain
        self.hiss = hiss
        isShort = delayFrames == 0
        random = SeededGenerator(seed: seed, stream: "hiss")
    }

    private let isShort: Bool

    mutating func process(speaker: Span<Float>, into microphone: inout MutableSpan<Float>) {
        for index in speaker.indices {
            let heard = isShort ? speaker[index] : line[position]
            line[position] = speaker[index]
            position = (position + 1) % line.count
            microphone[index] = heard * gain + Float(random.gaussian() * hiss)
        }
    }
}
