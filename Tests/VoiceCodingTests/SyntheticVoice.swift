import Glibc

/// A voiced sound with gliding pitch, two formants' worth of spectral tilt and syllables: enough like speech for a
/// codec.
func syntheticVoice(frames: Int, level: Float = 0.1, startFrame: Int = 0) -> [Float] {
    var phase = 0.0
    return (startFrame..<startFrame + frames).map { frame in
        let seconds = Double(frame) / 48_000
        phase += 2 * Double.pi * (120 + 25 * sin(2 * .pi * 0.7 * seconds)) / 48_000
        let syllable = 0.55 + 0.45 * sin(2 * .pi * 3 * seconds)
        var sum = 0.0
        for harmonic in 1...20 {
            let hertz = 120.0 * Double(harmonic)
            let formants = 1 / (1 + pow((hertz - 500) / 200, 2)) + 0.4 / (1 + pow((hertz - 1500) / 250, 2))
            sum += (0.05 + formants) * sin(phase * Double(harmonic))
        }
        return level * Float(syllable * sum)
    }
}

/// Decibels by which `sound` stands above its difference from `reference`, both taken `lag` frames apart.
func signalToNoise(_ sound: ArraySlice<Float>, against reference: [Float], lag: Int) -> Double {
    var (signal, noise) = (0.0, 1e-12)
    for index in sound.indices where reference.indices.contains(index - lag) {
        let expected = Double(reference[index - lag])
        signal += expected * expected
        noise += pow(Double(sound[index]) - expected, 2)
    }
    return 10 * log10(signal / noise)
}

/// Root mean square in decibels below full scale.
func level(_ sound: some Collection<Float>) -> Double {
    10 * log10(1e-12 + sound.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(sound.count))
}
