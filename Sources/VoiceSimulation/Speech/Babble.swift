/// Decides what `SyntheticSpeech` utters next: phrases of syllables of sounds, with pauses; and the melody over them.
struct Babble: Sendable {
    /// One sound and how long it lasts at ordinary tempo.
    struct Sound: Sendable {
        let articulation: Articulation
        let seconds: Double
    }

    private enum Place {
        case pause, onset, release, nucleus, coda
    }

    /// Vowels with their first three formants in Hz, men's means (G. E. Peterson, H. L. Barney, JASA 1952, table II).
    private static let vowels: InlineArray<10, SIMD3<Double>> = [
        [270, 2_290, 3_010], [390, 1_990, 2_550], [530, 1_840, 2_480], [660, 1_720, 2_410], [730, 1_090, 2_440],
        [570, 840, 2_410], [440, 1_020, 2_240], [300, 870, 2_240], [640, 1_190, 2_390], [490, 1_350, 1_690],
    ]

    private var generator: SeededGenerator
    private var place = Place.pause
    private var vowel = SIMD3<Double>(500, 1_500, 2_500)
    private var syllablesLeft = 0
    private var phraseSyllables = 1
    private var accent = 1.0
    private var pitch = 1.0

    init(generator: SeededGenerator) {
        self.generator = generator
    }

    /// The next sound; never-ending.
    mutating func next() -> Sound {
        switch place {
        case .pause: return beginPhrase()
        case .onset: return onset()
        case .release: return release()
        case .nucleus: return nucleus()
        case .coda: return coda()
        }
    }

    /// The pitch of the coming millisecond relative to the voice's mean: it falls over a phrase and rises on accents.
    mutating func nextPitch() -> Double {
        let declination = 1.15 - 0.3 * (1 - Double(syllablesLeft) / Double(phraseSyllables))
        pitch += (declination * accent - pitch) / 60
        return pitch * (1 + 0.004 * generator.gaussian())
    }

    private mutating func beginPhrase() -> Sound {
        phraseSyllables = Int(generator.uniform(in: 4...13))
        syllablesLeft = phraseSyllables
        place = .onset
        beginSyllable()
        return Sound(articulation: .silence, seconds: generator.uniform(in: 0.25...0.8))
    }

    private mutating func beginSyllable() {
        vowel = Self.vowels[Int(generator.uniform() * 10)]
        accent = generator.chance(0.3) ? generator.uniform(in: 1.1...1.35) : generator.uniform(in: 0.92...1.05)
    }

    private mutating func onset() -> Sound {
        place = .nucleus
        let kind = generator.uniform()
        if kind < 0.3 {  // a plosive begins with a closed mouth
            place = .release
            var closed = shape(voicing: generator.chance(0.5) ? 0.06 : 0)
            closed.formants.x = 220
            return Sound(articulation: closed, seconds: generator.uniform(in: 0.035...0.07))
        }
        if kind < 0.55 { return fricative(seconds: generator.uniform(in: 0.06...0.13)) }
        if kind < 0.75 { return nasal(seconds: generator.uniform(in: 0.05...0.09)) }
        if kind < 0.9 {  // an approximant: a vowel said with a narrow mouth
            var narrow = shape(voicing: 0.5)
            narrow.formants = [300, generator.uniform(in: 900...2_100), 2_300]
            return Sound(articulation: narrow, seconds: generator.uniform(in: 0.05...0.08))
        }
        return nucleus()
    }

    private mutating func release() -> Sound {
        place = .nucleus
        var burst = shape(voicing: 0)
        burst.frication = generator.uniform(in: 0.3...0.8)
        burst.fricationHertz = generator.uniform(in: 1_500...5_000)
        burst.aspiration = 0.15
        return Sound(articulation: burst, seconds: generator.uniform(in: 0.01...0.03))
    }

    private mutating func nucleus() -> Sound {
        place = .coda
        let length = generator.uniform(in: 0.08...0.19) * (accent > 1.1 ? 1.25 : 1) * (syllablesLeft == 1 ? 1.4 : 1)
        return Sound(articulation: shape(voicing: generator.uniform(in: 0.75...1) * accent), seconds: length)
    }

    private mutating func coda() -> Sound {
        syllablesLeft -= 1
        let kind = generator.uniform()
        let isLast = syllablesLeft == 0
        place = isLast ? .pause : .onset
        defer { if !isLast { beginSyllable() } }
        if kind < 0.15 { return nasal(seconds: generator.uniform(in: 0.05...0.1)) }
        if kind < 0.3 { return fricative(seconds: generator.uniform(in: 0.06...0.12)) }
        if kind < 0.4 { return Sound(articulation: shape(voicing: 0), seconds: generator.uniform(in: 0.03...0.08)) }
        return Sound(articulation: shape(voicing: 0.6), seconds: 0.02)
    }

    private mutating func fricative(seconds: Double) -> Sound {
        var hiss = shape(voicing: generator.chance(0.3) ? 0.3 : 0)
        let isStrong = generator.chance(0.6)
        hiss.frication = isStrong ? generator.uniform(in: 0.25...0.5) : generator.uniform(in: 0.06...0.12)
        hiss.fricationHertz = isStrong ? generator.uniform(in: 2_500...7_000) : generator.uniform(in: 6_000...9_000)
        return Sound(articulation: hiss, seconds: seconds)
    }

    private mutating func nasal(seconds: Double) -> Sound {
        var hum = shape(voicing: 0.4)
        hum.formants = [250, generator.uniform(in: 1_000...1_600), 2_200]
        return Sound(articulation: hum, seconds: seconds)
    }

    private func shape(voicing: Double) -> Articulation {
        Articulation(formants: vowel, voicing: voicing, aspiration: 0, frication: 0, fricationHertz: 4_000)
    }
}
