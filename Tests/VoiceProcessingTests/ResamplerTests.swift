import Glibc
import Testing

@testable import VoiceProcessing

@Suite("Resampler")
struct ResamplerTests {
    private func run(_ resampler: inout Resampler, _ input: [Float], capacity: Int) throws -> [Float] {
        var output = [Float](repeating: 0, count: capacity)
        var span = output.mutableSpan
        let (consumed, produced) = try resampler.run(input.span, into: &span)
        #expect(consumed == input.count)
        return Array(output[..<produced])
    }

    private func tone(_ frequency: Float, rate: Int, count: Int) -> [Float] {
        (0..<count).map { 0.5 * sinf(2 * .pi * frequency * Float($0) / Float(rate)) }
    }

    @Test("keeps a tone's frequency and level", arguments: [8_000, 16_000, 44_100, 96_000])
    func tone(rate: Int) throws {
        var resampler = try Resampler(from: rate, to: 48_000)
        let output = try run(&resampler, tone(1_000, rate: rate, count: rate), capacity: 50_000)
        #expect(abs(output.count - 48_000) <= 2)
        let expected = tone(1_000, rate: 48_000, count: 48_000)
        #expect(abs(rms(output[24_000..<40_000]) - rms(expected[24_000..<40_000])) < 0.1)
    }

    @Test("lags by the latency that it reports", arguments: [8_000, 16_000, 44_100, 96_000])
    func latency(rate: Int) throws {
        var resampler = try Resampler(from: rate, to: 48_000)
        // Given an impulse; then its peak comes out a latency after its place.
        var impulse = [Float](repeating: 0, count: rate / 10)
        impulse[rate / 50] = 1
        let output = try run(&resampler, impulse, capacity: 6_000)
        let peak = output.indices.max { output[$0] < output[$1] } ?? 0
        #expect(abs(peak - 960 - resampler.outputLatency) <= 1)
        #expect(abs(resampler.outputLatency * rate / 48_000 - resampler.inputLatency) <= 1)
    }

    @Test("skipping the leading silence puts a file's beginning in its place")
    func skip() throws {
        let input = speech(seconds: 1, rate: 16_000, seed: 51)
        var up = try Resampler(from: 16_000, to: 48_000)
        up.skipLeadingSilence()
        var down = try Resampler(from: 48_000, to: 16_000)
        down.skipLeadingSilence()
        let there = try run(&up, input, capacity: 50_000)
        let back = try run(&down, there, capacity: 17_000)
        #expect(lag(of: back[8_000..<10_000], behind: input, upTo: 40).frames == 0)
    }

    @Test("a ratio of 100 ppm gives exactly that many frames more")
    func drift() throws {
        var resampler = try Resampler(from: 48_000, to: 48_000)
        try resampler.setRatio(inputFrames: 1_000_000, outputFrames: 1_000_100)
        var produced = 0
        let block = tone(440, rate: 48_000, count: 480)
        for _ in 0..<1_000 { produced += try run(&resampler, block, capacity: 600).count }
        #expect(abs(produced - 480_048) <= 1)
    }

    @Test("what cannot be is a typed error", arguments: [(0, 48_000), (48_000, 0), (-1, 48_000), (48_000, 1 << 33)])
    func invalid(from: Int, to: Int) throws {
        #expect(throws: ResamplerError.invalidArgument) {
            _ = try Resampler(from: from, to: to).outputLatency
        }
        var fine = try Resampler(from: 48_000, to: 16_000)
        var refused: ResamplerError?
        do { try fine.setRatio(inputFrames: from, outputFrames: to) } catch { refused = error }
        #expect(refused == .invalidArgument)
    }
}
