import TestCases
import Testing

@testable import VoiceProcessing

@Suite("Samples that are no sound")
struct SampleBoundsTests {
    enum Place: CaseIterable {
        case microphone, reference
    }

    /// Six seconds of a far end and its echo, a talker from the third second on, through a backend, with everything on.
    private static func output(
        _ backend: ProcessingBackend, rate: Int,
        spoil: (_ microphone: inout [Float], _ reference: inout [Float]) -> Void
    ) throws -> [Float] {
        var far = speech(seconds: 6, rate: rate, seed: 1)
        let heard = echo(of: far, rate: rate, delay: rate / 25, returnLoss: 10, reverberation: 0.1, seed: 2)
        var mic = sum(heard, [Float](repeating: 0, count: 3 * rate) + speech(seconds: 3, rate: rate, seed: 3))
        spoil(&mic, &far)
        let chain = try ProcessingChain(sampleRate: rate, settings: .voiceAgent, backend: backend)
        return ChainRun(chain, capture: mic, reference: far).output
    }

    @Test(
        "leave no trace two seconds later", arguments: cases(ProcessingBackend.builtIn), cases([16_000, 48_000]))
    func recovers(backend: ProcessingBackend, rate: Int) throws {
        // Given a call without any
        let last = 5 * rate..<6 * rate
        let clean = try Self.output(backend, rate: rate) { _, _ in }
        for place in Place.allCases {
            for value in cases([Float.nan, -1e30]) {
                // When ten of them come after two seconds, and one in silence
                let output = try Self.output(backend, rate: rate) { microphone, reference in
                    for index in [3] + (2 * rate..<2 * rate + 10) {
                        switch place {
                        case .microphone: microphone[index] = value
                        case .reference: reference[index] = value
                        }
                    }
                }
                // Then there is sound, and the gain control at most is not yet over the loud moment: measured up to 4.2
                // dB
                let isSound = output.allSatisfy { $0.isFinite }
                #expect(isSound, "\(value) in the \(place)")
                let change = rms(output[last]) - rms(clean[last])
                #expect(abs(change) < 5, "\(value) in the \(place): \(change) dB")
            }
        }
    }

    @Test("become silence or the limit, and sound stays as it is")
    func bounds() {
        var samples: [Float] = [.nan, -.nan, .infinity, -.infinity, 1e8, -3, 2, -1.5, 0, 1e-30]
        var span = samples.mutableSpan
        SampleBounds.bound(&span)
        #expect(samples == [0, 0, 2, -2, 2, -2, 2, -1.5, 0, 1e-30])
    }
}
