import Glibc
import TestCases
import Testing
import VoiceSignal

@testable import VoiceProcessing

@Suite("Bins in which the echo estimate adds to the microphone")
struct OverestimateTests {
    private static let rate = NativeEchoCanceller.sampleRate
    private static let block = 160
    private static let tone = (hertz: 1_000, bin: 20)

    private static func tone(seconds: Double, level: Float) -> [Float] {
        let amplitude = powf(10, level / 20) * Float(2).squareRoot()
        return (0..<Int(seconds * Double(rate))).map { frame in
            amplitude * sinf(2 * .pi * Float(frame) * Float(Self.tone.hertz) / Float(rate))
        }
    }

    private static func spectrum(
        _ samples: [Float], block number: Int, _ transform: inout BlockTransform, into spectrum: inout Spectrum
    ) {
        var frames = RealVector(count: block)
        frames.write(samples.span.extracting(number * block..<(number + 1) * block))
        transform.forward(silenceThen: frames, into: &spectrum)
    }

    @Test("are those in which the error is louder, and tell by how much")
    func tells() {
        // Given a microphone that hears noise, and an error that has a tone beside a tenth of it
        let microphone = noise(seconds: 1, rate: Self.rate, seed: 3, level: -40)
        let error = zip(microphone, Self.tone(seconds: 1, level: -40)).map { 0.1 * $0 + $1 }
        var transform = BlockTransform()
        var errorSpectrum = Spectrum()
        var microphoneSpectrum = Spectrum()
        var overestimate = Overestimate()
        var told = [Int](repeating: 0, count: Spectrum.bins)
        // When
        for number in 0..<100 {
            Self.spectrum(error, block: number, &transform, into: &errorSpectrum)
            Self.spectrum(microphone, block: number, &transform, into: &microphoneSpectrum)
            overestimate.observe(error: errorSpectrum, microphone: microphoneSpectrum, left: 0.1, of: 1)
            for bin in told.indices where overestimate.excess[bin] > 0 { told[bin] += 1 }
        }
        // Then the tone's bin is told of in each block, and those far from it never
        #expect(told[Self.tone.bin] == 100)
        #expect(told[..<8].allSatisfy { $0 == 0 } && told[40...].allSatisfy { $0 == 0 }, "\(told)")
        #expect(overestimate.excess[Self.tone.bin] < errorSpectrum.power(Self.tone.bin))
    }

    @Test("are none where most are wrong: the echo has jumped")
    func jump() {
        // Given an error that is twice the microphone, everywhere
        let microphone = noise(seconds: 1, rate: Self.rate, seed: 4, level: -40)
        let error = microphone.map { 2 * $0 }
        var transform = BlockTransform()
        var errorSpectrum = Spectrum()
        var microphoneSpectrum = Spectrum()
        var overestimate = Overestimate()
        for number in 0..<100 {
            Self.spectrum(error, block: number, &transform, into: &errorSpectrum)
            Self.spectrum(microphone, block: number, &transform, into: &microphoneSpectrum)
            // When
            overestimate.observe(error: errorSpectrum, microphone: microphoneSpectrum, left: 0.1, of: 1)
            // Then
            for bin in 0..<Spectrum.bins { #expect(overestimate.excess[bin] == 0) }
        }
    }

    /// What a stage leaves of a second, after a tone in the noise that it has learned has become 20 dB softer in the room
    /// and in nothing that it can hear otherwise.
    private static func left(isFarAlone: Bool) -> (came: Float, early: Float, late: Float) {
        let hiss = noise(seconds: 4, rate: rate, seed: 5, level: -30)
        let tone = tone(seconds: 4, level: -36)
        let (hissEcho, toneEcho) = (
            echo(of: hiss, rate: rate, delay: 80), echo(of: tone, rate: rate, delay: 80)
        )
        var transform = BlockTransform()
        var stage = LinearStage()
        var played = RealVector(count: block)
        var recorded = RealVector(count: block)
        var (came, early, late): (Float, Float, Float) = (0, 0, 0)
        for number in 0..<400 {
            for index in 0..<block {
                let frame = number * block + index
                played[index] = hiss[frame] + tone[frame]
                recorded[index] = hissEcho[frame] + (number < 300 ? 1 : 0.1) * toneEcho[frame]
            }
            stage.take(far: played, microphone: recorded, &transform)
            _ = stage.cancel(isPlaying: true, isFarAlone: isFarAlone, &transform)
            stage.endBlock()
            switch number {
            case 280..<300: came += recorded.energy
            case 305..<325: early += stage.error.energy
            case 380..<400: late += stage.error.energy
            default: break
            }
        }
        return (came, early, late)
    }

    @Test("are learned anew at once, where the far end is alone and the filter is right otherwise")
    func learnsAnew() {
        let (alone, both) = (Self.left(isFarAlone: true), Self.left(isFarAlone: false))
        #expect(alone.early < alone.came / 100 && alone.late < alone.came / 100, "\(alone)")
        #expect(both.early > 4 * alone.early, "\(both), \(alone)")
    }
}
