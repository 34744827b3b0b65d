import Glibc
import TestCases
import Testing
import VoiceSimulation

/// The search over arrays: the testing macros cannot hold spans.
private func find(_ pulse: ProbePulse, in recording: [Float]) -> PulseDetection? {
    PulseSearch(pulse).find(in: recording.span)
}

/// `pulse` at `position`, between frames as well, in a recording of `frames`; band-limited interpolation with a
/// windowed sinc.
private func recording(of pulse: ProbePulse, at position: Double, frames: Int, gain: Float = 1) -> [Float] {
    let whole = Int(position.rounded(.down))
    let part = position - Double(whole)
    let taps = 32
    return (0..<frames).map { frame in
        guard part > 0 else {
            let index = frame - whole
            return pulse.samples.indices.contains(index) ? gain * pulse.samples[index] : 0
        }
        var sum = 0.0
        for tap in -taps...taps {
            let index = frame - whole + tap
            guard pulse.samples.indices.contains(index) else { continue }
            let distance = Double(tap) + part
            let window = 0.5 + 0.5 * cos(.pi * distance / Double(taps + 1))
            sum += Double(pulse.samples[index]) * sin(.pi * distance) / (.pi * distance) * window
        }
        return gain * Float(sum)
    }
}

/// White noise whose power within the pulse's band is `below` dB under the pulse's own; negative: above it.
private func noise(_ frames: Int, under pulse: ProbePulse, below: Double, seed: UInt64) -> [Float] {
    let power = pulse.samples.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(pulse.samples.count)
    let share = (pulse.band.upperBound - pulse.band.lowerBound) / (ProbePulse.sampleRate / 2)
    var generator = SeededGenerator(seed: seed, stream: "pulse noise")
    let deviation = (power * pow(10, -below / 10) / share).squareRoot()
    return (0..<frames).map { _ in Float(generator.gaussian() * deviation) }
}

@Suite("The probe pulse")
struct ProbePulseTests {
    @Test("is within full scale, begins and ends without a click", arguments: [ProbePulse.wide, .voice])
    func shape(_ pulse: ProbePulse) {
        #expect(pulse.samples.allSatisfy { abs($0) <= 0.25 })
        #expect(abs(pulse.samples.first ?? 1) < 0.001)
        #expect(abs(pulse.samples.last ?? 1) < 0.01)
    }

    @Test("stands out of its own autocorrelation by 30 dB beyond 1 ms", arguments: [ProbePulse.wide, .voice])
    func sideLobes(_ pulse: ProbePulse) {
        let samples = pulse.samples
        func product(_ shift: Int) -> Double {
            (shift..<samples.count).reduce(0.0) { $0 + Double(samples[$1]) * Double(samples[$1 - shift]) }
        }
        let peak = product(0)
        let largest = (48..<samples.count).map { abs(product($0)) }.max() ?? peak
        #expect(20 * log10(peak / largest) > 30)
    }
}

@Suite("Finding a probe pulse")
struct PulseSearchTests {
    @Test(
        "to a fiftieth of a frame, between frames too, of either polarity",
        arguments: [ProbePulse.wide, .voice], [1_000.0, 4_321.25, 20_000.5, 33_333.9])
    func clean(_ pulse: ProbePulse, position: Double) throws {
        for gain: Float in [1, -0.001] {
            let heard = recording(of: pulse, at: position, frames: 40_000, gain: gain)
            let found = try #require(find(pulse, in: heard))
            #expect(abs(found.position - position) < 0.02)
            #expect(found.isTrusted)
            #expect(found.correlation * Double(gain.sign == .minus ? -1 : 1) > 0.95)
        }
    }

    @Test(
        "to 0.02 ms in noise that drowns it", arguments: [(ProbePulse.wide, -8.0), (.voice, -3.0)],
        1...6 as ClosedRange<UInt64>)
    func noisy(_ of: (pulse: ProbePulse, signalToNoise: Double), seed: UInt64) throws {
        var heard = recording(of: of.pulse, at: 12_345.6, frames: 48_000)
        let noise = noise(heard.count, under: of.pulse, below: of.signalToNoise, seed: seed)
        for index in heard.indices { heard[index] += noise[index] }
        let found = try #require(find(of.pulse, in: heard))
        #expect(found.isTrusted, "seed \(seed): \(found)")
        #expect(abs(found.position - 12_345.6) / 48 < 0.02, "seed \(seed): \(found)")
    }

    @Test("not in noise alone", arguments: [ProbePulse.wide, .voice], cases(1...6 as ClosedRange<UInt64>))
    func noiseAlone(_ pulse: ProbePulse, seed: UInt64) {
        let found = find(pulse, in: whiteNoise(48_000, seed: seed))
        #expect(found?.isTrusted == false, "seed \(seed): \(String(describing: found))")
    }

    @Test("not in speech", arguments: [ProbePulse.wide, .voice], cases(1...4 as ClosedRange<UInt64>))
    func speech(_ pulse: ProbePulse, seed: UInt64) {
        let found = find(pulse, in: SyntheticSpeech.samples(frames: 96_000, seed: seed))
        #expect(found?.isTrusted == false, "seed \(seed): \(String(describing: found))")
    }

    @Test("not in silence, nor in a recording that is too short")
    func nothing() {
        #expect(find(.wide, in: [Float](repeating: 0, count: 10_000)) == nil)
        #expect(find(.wide, in: ProbePulse.wide.samples) == nil)
        #expect(find(.wide, in: []) == nil)
    }

    @Test("beside a click a hundred times as loud")
    func click() throws {
        var heard = recording(of: .wide, at: 9_000, frames: 40_000, gain: 0.01)
        heard[30_000] = 1
        let found = try #require(find(.wide, in: heard))
        #expect(found.isTrusted)
        #expect(abs(found.position - 9_000) < 0.05)
    }

    @Test("not when it is there twice: nobody knows which one is meant")
    func twice() throws {
        let heard = zip(
            recording(of: .wide, at: 5_000, frames: 40_000), recording(of: .wide, at: 20_000, frames: 40_000)
        ).map(+)
        #expect(try #require(find(.wide, in: heard)).isTrusted == false)
    }
}
