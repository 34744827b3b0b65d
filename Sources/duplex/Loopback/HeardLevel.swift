import Glibc
import VoiceSignal

/// What a microphone gave, as far as it tells whether it hears at all.
struct HeardLevel: Equatable {
    private(set) var frames = 0
    private var energy = 0.0
    private var least = Float.infinity
    private var most = -Float.infinity

    /// What to do about a microphone that gives digital silence.
    static let silenceRemedy = """
        switch it on: a key or a switch of its own, its volume in the mixer, the system's privacy settings, \
        or the host's microphone for a virtual machine; or name its input of an interface by --capture-channels
        """

    mutating func add(_ samples: Span<Float>) {
        frames += samples.count
        for index in samples.indices {
            let sample = samples[index]
            energy += Double(sample) * Double(sample)
            least = min(least, sample)
            most = max(most, sample)
        }
    }

    /// Takes `frames` frames of which the level alone is known: RMS in dBFS, of digital silence -127 or less.
    mutating func add(level: Float, frames: Int) {
        guard frames > 0 else { return }
        let rms = level > silenceLevel ? powf(10, level / 20) : 0
        self.frames += frames
        energy += Double(frames) * Double(rms) * Double(rms)
        least = min(least, -rms)
        most = max(most, rms)
    }

    mutating func add(_ other: HeardLevel) {
        frames += other.frames
        energy += other.energy
        least = min(least, other.least)
        most = max(most, other.most)
    }

    /// Whether it is one number over and over. A microphone that is on has noise, however quiet the room.
    var isDead: Bool { frames > 0 && least == most }

    /// RMS, dBFS; nil where there is nothing.
    var decibels: Double? { energy > 0 ? 10 * log10(energy / Double(frames)) : nil }
}
