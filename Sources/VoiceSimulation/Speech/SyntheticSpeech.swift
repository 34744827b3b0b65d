import Glibc

/// An endless stream of babble that voice activity detectors, codecs and cancellers take for speech, made from a seed.
///
/// A formant synthesiser (D. H. Klatt, "Software for a cascade/parallel formant synthesizer", JASA 1980): a glottal
/// pulse of moving pitch through five resonators whose frequencies glide from vowel to vowel, noise bursts and
/// frication for consonants, about four syllables a second, and pauses between phrases. It says nothing. 48 kHz; no
/// call allocates.
package struct SyntheticSpeech: Sendable {
    /// Whose voice it is.
    package struct Voice: Equatable, Sendable {
        /// Mean pitch in Hz.
        package var pitchHertz: Double
        /// Formant frequencies relative to a man's: a shorter vocal tract has higher ones.
        package var formantScale: Double
        /// Speed relative to ordinary talk.
        package var tempo: Double

        /// A voice of its own.
        package init(pitchHertz: Double, formantScale: Double, tempo: Double = 1) {
            self.pitchHertz = pitchHertz
            self.formantScale = formantScale
            self.tempo = tempo
        }

        /// A man's voice.
        package static let low = Voice(pitchHertz: 115, formantScale: 1)
        /// A woman's voice (formants about 17 % higher; G. E. Peterson, H. L. Barney, JASA 1952).
        package static let high = Voice(pitchHertz: 210, formantScale: 1.17, tempo: 1.05)
    }

    /// Frames between two updates of everything that moves: 1 ms, well below what the ear or an articulator resolves.
    private static let controlFrames = 48
    private static let sampleRate = 48_000.0
    /// Active level in dB of the synthesiser before its final gain; measured over 60 s of seeds 1 to 8 of both voices.
    private static let nativeLevelDecibels = -5.2

    private let voice: Voice
    private let gain: Float
    private var babble: Babble
    private var noise: SeededGenerator
    private var target: Articulation
    private var current = Articulation.silence
    private var framesLeft = 0
    private var framesToControl = 0
    private var glottis: Glottis
    private var tract = VocalTract()

    /// A stream of babble whose active level (`SignalLevel`) is about `levelDecibels` relative to full scale.
    package init(seed: UInt64, voice: Voice = .low, levelDecibels: Double = -26) {
        self.voice = voice
        gain = Float(pow(10, (levelDecibels - Self.nativeLevelDecibels) / 20))
        babble = Babble(generator: SeededGenerator(seed: seed, stream: "babble"))
        noise = SeededGenerator(seed: seed, stream: "breath")
        target = .silence
        glottis = Glottis(generator: SeededGenerator(seed: seed, stream: "glottis"))
    }

    /// Fills a block with the next frames.
    package mutating func read(into block: inout MutableSpan<Float>) {
        for index in block.indices { block[index] = next() }
    }

    /// The first `frames` frames of a seed's stream, in an array of their own.
    package static func samples(
        frames: Int, seed: UInt64, voice: Voice = .low, levelDecibels: Double = -26
    ) -> [Float] {
        var speech = SyntheticSpeech(seed: seed, voice: voice, levelDecibels: levelDecibels)
        var samples = [Float](repeating: 0, count: frames)
        var span = samples.mutableSpan
        speech.read(into: &span)
        return samples
    }

    private mutating func next() -> Float {
        if framesLeft == 0 {
            let sound = babble.next()
            target = sound.articulation
            framesLeft = max(Self.controlFrames, Int(sound.seconds / voice.tempo * Self.sampleRate))
        }
        if framesToControl == 0 {
            framesToControl = Self.controlFrames
            current.approach(target)
            glottis.hertz = voice.pitchHertz * babble.nextPitch()
            tract.tune(to: current, formantScale: voice.formantScale)
        }
        framesLeft -= 1
        framesToControl -= 1
        let breath = noise.gaussian()
        let pulse = glottis.next()
        let voiced = current.voicing * (pulse + Self.breathiness * breath) + current.aspiration * breath
        return Float(tract.process(voiced: voiced, noise: current.frication * breath)) * gain
    }

    /// Breath noise in the voice relative to its pulses: -34 dB.
    private static let breathiness = 0.02
}

/// What the speech organs do at one moment; amplitudes are relative to a full vowel.
struct Articulation: Sendable {
    /// The first three formants in Hz.
    var formants: SIMD3<Double>
    /// Amplitude of the glottal pulses.
    var voicing: Double
    /// Amplitude of noise at the glottis.
    var aspiration: Double
    /// Amplitude of noise at a constriction of the mouth.
    var frication: Double
    /// Where that noise is loudest, in Hz.
    var fricationHertz: Double

    /// The mouth at rest.
    static let silence = Articulation(
        formants: [500, 1_500, 2_500], voicing: 0, aspiration: 0, frication: 0, fricationHertz: 4_000)

    /// One millisecond of movement: the mouth takes about 20 ms to get most of the way, the airflow about 5 ms.
    mutating func approach(_ target: Articulation) {
        formants += (target.formants - formants) / 20
        voicing += (target.voicing - voicing) / 6
        aspiration += (target.aspiration - aspiration) / 4
        frication += (target.frication - frication) / 4
        fricationHertz += (target.fricationHertz - fricationHertz) / 4
    }
}
