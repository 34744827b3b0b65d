import Foundation
import VoiceDevices
import VoiceSimulation

/// A sound to find speech in, at 16 kHz, and where it is.
struct SpeechScene {
    let name: String
    let samples: [Float]
    /// Whether each 10 ms is speech.
    let truth: [Bool]

    /// RMS of each 10 ms, dBFS.
    var levels: [Float] {
        stride(from: 0, to: samples.count - Self.block + 1, by: Self.block).map { start in
            10 * log10f(samples[start..<start + Self.block].reduce(0) { $0 + $1 * $1 } / Float(Self.block) + 1e-20)
        }
    }

    static let rate = 16_000
    static let block = rate / 100

    /// Active level of a talker, dBFS.
    private static let level = -26.0
    /// What is this far below it is no speech, dB.
    private static let depth = 30.0
    /// Silence that does not end speech, and speech that is none, in blocks: a detector's own rules, so that nobody is
    /// blamed for them.
    private static let pause = 30
    private static let least = 6

    /// Noise alone, at a level, dBFS.
    init(_ noise: SpeechNoise, decibels: Double, seconds: Double, seed: UInt64) {
        let frames = Int(seconds) * Self.rate
        let gain = Float(pow(10, decibels / 20))
        name = "\(noise.rawValue)-\(Int(-decibels))-\(seed)"
        samples = noise.samples(frames: frames, seed: seed).map { min(1, max(-1, gain * $0)) }
        truth = [Bool](repeating: false, count: frames / Self.block)
    }

    /// A person with pauses, and noise below their active level by `ratio` dB; nil for none but a quiet room's.
    init(_ voice: SpeechVoice, _ noise: SpeechNoise?, ratio: Double, seconds: Double, seed: UInt64) {
        let frames = Int(seconds) * Self.rate
        let speech = voice.talk(frames: frames, decibels: Self.level, seed: seed)
        truth = Self.truth(of: speech)
        name = "\(voice.name)-\(noise?.rawValue ?? "quiet")-\(Int(ratio))-\(seed)"
        let added = (noise ?? .pink).samples(frames: frames, seed: seed)
        let gain = Float(pow(10, (noise == nil ? -75 : Self.level - ratio) / 20))
        samples = zip(speech, added).map { min(1, max(-1, $0 + gain * $1)) }
    }

    /// Blocks within 30 dB of the active level; pauses that end nothing filled, and clicks left out.
    private static func truth(of speech: [Float]) -> [Bool] {
        let least = pow(10, (level - depth) / 10)
        var active = stride(from: 0, to: speech.count, by: block).map { start in
            let power = speech[start..<start + block].reduce(0) { $0 + Double($1) * Double($1) } / Double(block)
            return power > least
        }
        for run in runs(of: false, in: active)
        where run.count < pause && run.lowerBound > 0 && run.upperBound < active.count {
            for index in run { active[index] = true }
        }
        for run in runs(of: true, in: active) where run.count < Self.least {
            for index in run { active[index] = false }
        }
        return active
    }

    /// Blocks of each stretch of a value.
    static func runs(of value: Bool, in blocks: [Bool]) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var start: Int?
        for index in 0...blocks.count {
            let matches = index < blocks.count && blocks[index] == value
            if matches, start == nil { start = index }
            if !matches, let begin = start { (found, start) = (found + [begin..<index], nil) }
        }
        return found
    }
}

/// Somebody of asterisk-core-sounds, of whom nothing was learned.
struct SpeechVoice {
    let name: String
    private let prompts: [[Float]]

    private static let sounds = "/usr/share/asterisk/sounds"
    /// The folders of Debian's packages asterisk-core-sounds-*-wav.
    private static let folders = [
        "en_US_f_Allison", "es_MX_f_Allison", "fr_CA_f_June", "it_IT_m_Carlo", "ru_RU_f_IvrvoiceRU",
    ]
    /// The talk is made of what is as long as a phrase, s.
    private static let lengths = 0.8...8.0
    private static let most = 60

    /// Who is installed.
    static func all() -> [SpeechVoice] {
        let found = folders.compactMap { folder -> SpeechVoice? in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(sounds)/\(folder)")) ?? []
            var prompts: [[Float]] = []
            for name in names.sorted() where name.hasSuffix(".wav") && prompts.count < most {
                guard let file = try? AudioFile.read("\(sounds)/\(folder)/\(name)", convertedTo: SpeechScene.rate),
                    lengths.contains(Double(file.samples.count) / Double(SpeechScene.rate)),
                    let level = SignalLevel(of: file.samples.span).activeDecibels
                else { continue }
                let gain = Float(pow(10, -level / 20))
                prompts.append(file.samples.map { $0 * gain })
            }
            return prompts.count < 10 ? nil : SpeechVoice(name: folder, prompts: prompts)
        }
        return found
    }

    /// Phrases with pauses of 0.5 to 3 s.
    func talk(frames: Int, decibels: Double, seed: UInt64) -> [Float] {
        var draw = SeededGenerator(seed: seed, stream: name)
        var sound = [Float](repeating: 0, count: frames)
        let gain = Float(pow(10, decibels / 20))
        var at = Int(draw.uniform(in: 1...3) * Double(SpeechScene.rate))
        while at < frames {
            let prompt = prompts[Int(draw.uniform() * Double(prompts.count))]
            guard at + prompt.count < frames - SpeechScene.rate else { break }
            for index in prompt.indices { sound[at + index] = gain * prompt[index] }
            at += prompt.count + Int(draw.uniform(in: 0.5...3) * Double(SpeechScene.rate))
        }
        return sound
    }
}
