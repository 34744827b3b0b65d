import Glibc
import TestCases
import Testing
import VoiceSignal

@testable import VoiceProcessing

/// Devices that mute, gate and amplify their microphones by themselves.
@Suite("A device that changes its microphone by itself")
struct GatedDeviceTests {
    private static let rate = 16_000

    /// By how much a stretch of the output is softer than the microphone, dB.
    private static func removed(
        _ output: [Float], of microphone: [Float], from start: Double, to end: Double
    ) -> Float {
        let range = Int(start * Double(rate))..<Int(end * Double(rate))
        return rms(microphone[range]) - rms(output[range])
    }

    @Test("is muted and comes back: its path is the same", arguments: cases([1, 2, 3]))
    func muted(seed: Int) throws {
        // Given an echo that is known, whose microphone is silent for two seconds while the far end goes on
        let far = speech(seconds: 12, rate: Self.rate, seed: UInt64(seed), level: -20)
        let room = noise(seconds: 12, rate: Self.rate, seed: 4, level: -72)
        var microphone = sum(echo(of: far, rate: Self.rate, delay: 640), room)
        for index in 7 * Self.rate..<9 * Self.rate { microphone[index] = 0 }
        // When
        let run = try ProcessorRun(.native, capture: microphone, reference: far)
        // Then it is cancelled from the first half second on, and nothing of its path was given up
        let (before, after) = (
            Self.removed(run.output, of: microphone, from: 4, to: 7),
            Self.removed(run.output, of: microphone, from: 9, to: 10)
        )
        #expect(after > before - 12, "seed \(seed): \(before), then \(after) dB")
        #expect(!run.reports.contains { $0.echoDecisions?.isPathLost == true }, "seed \(seed)")
    }

    @Test("amplifies: its reference is 40 dB softer than the echo", arguments: cases([1, 2, 3]))
    func softReference(seed: Int) throws {
        let far = speech(seconds: 10, rate: Self.rate, seed: UInt64(seed), level: -62)
        let room = noise(seconds: 10, rate: Self.rate, seed: 4, level: -72)
        let microphone = sum(echo(of: far, rate: Self.rate, delay: 640, returnLoss: -40), room)
        let run = try ProcessorRun(.native, capture: microphone, reference: far)
        let removed = Self.removed(run.output, of: microphone, from: 2, to: 5)
        #expect(removed > 30, "seed \(seed): \(removed) dB")
    }

    @Test("turns up what lies high: each bin has a level of its own, and the room's noise none")
    func levels() {
        // Given a reference that comes and goes, of which 20 dB more are heard above 4 kHz than were played and 20 less
        // below 1 kHz, where the room is much louder
        let (seconds, block) = (0.4, 160)
        let far = noise(seconds: seconds, rate: Self.rate, seed: 5, level: -40).enumerated().map { index, sample in
            (index / 3_200).isMultiple(of: 2) ? sample : 0.1 * sample
        }
        let room = noise(seconds: seconds, rate: Self.rate, seed: 6, level: -20)
        var transform = BlockTransform()
        var newest = Spectrum()
        var heard = Spectrum()
        var louder = Spectrum()
        var lanes = Spectrum(lanes: ReferenceSpectra.lanes)
        var line = DelayLine(count: 2 * block)
        var frames = RealVector(count: block)
        var levels = BinLevels()
        levels.restart()
        for number in 0..<far.count / block {
            frames.write(far.span.extracting(number * block..<(number + 1) * block))
            line.push(frames)
            transform.forward(line, into: &newest)
            lanes.push(newest, first: 0, count: ReferenceSpectra.linear)
            transform.forward(silenceThen: frames, into: &heard)
            frames.write(room.span.extracting(number * block..<(number + 1) * block))
            transform.forward(silenceThen: frames, into: &louder)
            for bin in 0..<Spectrum.bins {
                let gain: Float = bin > 80 ? 10 : bin < 20 ? 0.1 : 1
                let rest: Float = bin < 20 ? 1 : 0
                heard.real[bin] = gain * heard.real[bin] + rest * louder.real[bin]
                heard.imaginary[bin] = gain * heard.imaginary[bin] + rest * louder.imaginary[bin]
            }
            levels.observe(microphone: heard, reference: lanes)
        }
        // When
        levels.write(above: 10)
        // Then the upper bins are told of, within 6 dB, and no others
        for bin in 90..<150 { #expect((25...400).contains(levels.levels[bin]), "\(bin): \(levels.levels[bin])") }
        for bin in 0..<70 { #expect(levels.levels[bin] == 0, "\(bin): \(levels.levels[bin])") }
    }
}
