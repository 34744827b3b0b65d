import Glibc
internal import VoiceSignal

/// How the power of speech is spread over the frequencies, in the long run.
enum SpeechSpectrum {
    /// The band that the formula below is given for, in Hz.
    static let band = 100.0...8_000.0

    /// Power per hertz, on an arbitrary scale: the formula for artificial voice of ITU-T P.50; zero outside its band.
    static func power(atHertz frequency: Double) -> Double {
        guard band.contains(frequency) else { return 0 }
        let x = log10(frequency)
        let decibels = -376.44 + 465.439 * x - 157.745 * x * x + 16.7124 * x * x * x
        return pow(10, decibels / 10)
    }

    /// By what factor a system changes the power of speech: its impulse response, and `alsoThrough` a filter of the
    /// given squared magnitude.
    static func powerGain(of response: [Float], sampleRate: Double, alsoThrough filter: (Double) -> Double) -> Double {
        // At least 8,192 samples: 6 Hz per bin at 48 kHz, fine enough to integrate the spectrum's slope at 100 Hz.
        var length = 8_192
        while length < response.count { length *= 2 }
        var transform = RealTransform(length: length)
        transform.forward(response.span)
        var (speech, passed) = (0.0, 0.0)
        for bin in 1..<length / 2 {
            let frequency = Double(bin) * sampleRate / Double(length)
            let weight = power(atHertz: frequency)
            let (re, im) = (Double(transform.real[bin]), Double(transform.imaginary[bin]))
            speech += weight
            passed += weight * (re * re + im * im) * filter(frequency)
        }
        return passed / speech
    }
}
