import Glibc
import TestCases
import Testing

@testable import VoiceProcessing

/// What lies above the 8 kHz that the native canceller's filter works on.
@Suite("Above 8 kHz")
struct HighBandTests {
    private static let rate = 48_000
    private static let delay = rate / 200

    /// Level of what lies above 9 kHz, dBFS: a windowed sinc of 2.7 ms, whose own delay does not matter to a level.
    private func upperLevel(_ samples: ArraySlice<Float>) -> Float {
        let half = 64
        let cutoff = 2 * 9_000.0 / Double(Self.rate)
        let taps = (-half...half).map { tap -> Float in
            let x = Double(tap)
            let low = tap == 0 ? cutoff : sin(.pi * cutoff * x) / (.pi * x)
            let window = 0.54 + 0.46 * cos(.pi * x / Double(half))
            return Float((tap == 0 ? 1 : 0) - low * window)
        }
        let values = Array(samples)
        var filtered: [Float] = []
        // Every third frame will do for a level.
        for end in stride(from: taps.count, to: values.count, by: 3) {
            var sum: Float = 0
            for tap in taps.indices { sum += taps[tap] * values[end - 1 - tap] }
            filtered.append(sum)
        }
        return rms(filtered)
    }

    private func run(_ mic: [Float], _ far: [Float]) throws -> [Float] {
        let processor = try ProcessingBackend.native.makeProcessor(
            sampleRate: Self.rate, settings: ProcessingSettings(echo: .soft))
        return ProcessorRun(processor, capture: mic, reference: far).output
    }

    @Test("the echo goes there too", arguments: cases([0.02, 0.13]))
    func echoAlone(seconds: Double) throws {
        // Given a far end full of hiss and its echo
        let far = speech(seconds: 6, rate: Self.rate, seed: 501)
        let echoed = echo(of: far, rate: Self.rate, delay: Int(seconds * Double(Self.rate)))
        let mic = sum(echoed, noise(seconds: 6, rate: Self.rate, seed: 502, level: -80))
        // When it is cancelled
        let output = try run(mic, far)
        // Then little of what was plain above 8 kHz is left
        let tail = 3 * Self.rate..<6 * Self.rate - Self.delay
        let came = upperLevel(mic[tail])
        #expect(came > -55)
        #expect(came - upperLevel(output[tail]) > 25)
    }

    @Test("a talker's consonants stay there, alone and beside the far end", arguments: cases([-200, 0] as [Float]))
    func nearEnd(farGain: Float) throws {
        // Given a talker full of hiss, from the third second on
        let far = speech(seconds: 6, rate: Self.rate, seed: 511)
        var near = speech(seconds: 6, rate: Self.rate, seed: 512, level: -26)
        for index in 0..<2 * Self.rate { near[index] = 0 }
        let played = far.map { $0 * powf(10, farGain / 20) }
        let echoed = farGain < -100 ? played : echo(of: played, rate: Self.rate, delay: Self.rate / 25)
        let hiss = noise(seconds: 6, rate: Self.rate, seed: 513, level: -80)
        // When it is processed
        let output = try run(sum(sum(near, echoed), hiss), played)
        // Then what there is of the talker above 8 kHz is there in the output, as loud
        let whole = 2 * Self.rate..<6 * Self.rate - Self.delay
        let shifted = whole.lowerBound + Self.delay..<whole.upperBound + Self.delay
        let kept = upperLevel(output[shifted]) - upperLevel(near[whole])
        #expect(abs(kept) < (farGain < -100 ? 0.5 : 3))
    }
}
