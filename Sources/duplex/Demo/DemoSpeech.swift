import Glibc
import VoiceDevices
import VoiceSimulation

/// Two talkers' speech: real recordings where Debian's `asterisk-core-sounds-en-wav` is installed, else synthetic
/// speech.
struct DemoSpeech {
    /// Where the speech is from, for people.
    let origin: String
    /// At least the asked length for each side, 48 kHz mono, at an active level of -26 dBFS.
    let talkers: [[Float]]

    /// The usual level of speech in telephony, ITU-T P.56 active speech level, dBFS.
    private static let levelDecibels = -26.0
    private static let folder = "/usr/share/asterisk/sounds/en_US_f_Allison"
    private static let recordings = [
        ["demo-congrats", "demo-moreinfo", "vm-options"], ["demo-instruct", "demo-abouttotry", "conf-adminmenu-18"],
    ]

    /// Loads or makes `seconds` of speech for each side.
    init(seconds: Double, seed: UInt64) {
        let frames = Int(seconds * 48_000)
        let loaded = Self.recordings.map { Self.load($0, frames: frames) }
        if loaded.allSatisfy({ $0.count >= frames }) {
            origin = "recorded speech of Debian's asterisk-core-sounds-en-wav"
            talkers = loaded
        } else {
            origin = "synthetic speech, for want of the Debian package asterisk-core-sounds-en-wav"
            talkers = [
                SyntheticSpeech.samples(frames: frames, seed: seed, voice: .high, levelDecibels: Self.levelDecibels),
                SyntheticSpeech.samples(
                    frames: frames, seed: seed &+ 1, voice: .low, levelDecibels: Self.levelDecibels),
            ]
        }
    }

    private static func load(_ names: [String], frames: Int) -> [Float] {
        var speech: [Float] = []
        for name in names where speech.count < frames {
            guard let file = try? AudioFile.read("\(folder)/\(name).wav") else { return [] }
            speech += file.samples
        }
        guard let level = SignalLevel(of: speech.span).activeDecibels else { return [] }
        let gain = Float(pow(10, (levelDecibels - level) / 20))
        return speech.map { $0 * gain }
    }
}
