import VoiceSimulation

/// What a person does while the agent tells its story.
enum NearSound: UInt64 {
    case nothing, speech, hum, blip, cough, keyboard, babble

    /// What is no interruption.
    static let harmless: [NearSound] = [.hum, .blip, .cough, .keyboard, .babble]

    /// Samples of 48 kHz, the first of them sounding.
    func samples(seed: UInt64, level: Double) -> [Float] {
        let speech = SyntheticSpeech.samples(frames: 192_000, seed: seed, voice: .high, levelDecibels: level)
        let voiced = Array(speech[(speech.firstIndex { abs($0) > 0.005 } ?? 0)...])
        var random = SeededGenerator(seed: seed)
        func noise(_ frames: Int, _ peak: Float) -> [Float] {
            (0..<frames).map { frame in
                let value = Float(Int64(bitPattern: random.next() as UInt64) >> 40) / 8_388_608
                return peak * value * (1 - Float(frame) / Float(frames))
            }
        }
        return switch self {
        case .nothing: []
        case .speech: Array(voiced.prefix(120_000))
        case .hum: Array(voiced.prefix(19_200))
        case .blip: Array(voiced.prefix(3_840))
        case .cough: noise(6_000, 0.3) + noise(8_400, 0.2)
        case .keyboard: (0..<20).flatMap { _ in noise(960, 0.1) + [Float](repeating: 0, count: 6_240) }
        case .babble: Self.babble(seed: seed, level: level - 15)
        }
    }

    /// Eight voices at once, who talk with each other and not with the agent: 3 s, 15 dB below who means it.
    private static func babble(seed: UInt64, level: Double) -> [Float] {
        var sum = [Float](repeating: 0, count: 144_000)
        for voice in 0..<8 {
            let one = SyntheticSpeech.samples(
                frames: sum.count, seed: seed &* 100 &+ UInt64(voice), voice: voice % 2 == 0 ? .high : .low,
                levelDecibels: level - 9)
            for index in sum.indices { sum[index] += one[index] }
        }
        return sum
    }
}
