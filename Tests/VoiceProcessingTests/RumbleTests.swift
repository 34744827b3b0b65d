import Glibc
import TestCases
import Testing

@testable import VoiceProcessing

private let rates = [16_000, 48_000]

@Suite("Rumble")
struct RumbleTests {
    /// The corner at the end of each second, Hz.
    private static func corners(of sound: [Float], rate: Int) -> [Double] {
        var rumble = Rumble(sampleRate: rate)
        var corners: [Double] = []
        for start in stride(from: 0, to: sound.count - rate / 100 + 1, by: rate / 100) {
            let block = sound.span.extracting(start..<start + rate / 100)
            rumble.observe(block)
            // What is above the corner: of these sounds nearly all.
            rumble.observe(passed: block)
            if (start + rate / 100).isMultiple(of: rate) { corners.append(rumble.corner) }
        }
        return corners
    }

    private static func fan(seconds: Double, rate: Int, level: Float) -> [Float] {
        let low = lowPassed(noise(seconds: seconds, rate: rate, seed: 7, level: 0), hertz: 50, rate: rate)
        let gain = powf(10, (level - rms(low)) / 20)
        return low.map { gain * $0 }
    }

    @Test("moves the corner up, the more the louder it is, and back within seconds", arguments: cases(rates))
    func moves(rate: Int) throws {
        let talk = speech(seconds: 14, rate: rate, seed: 3)
        let (soft, loud) = (
            Self.fan(seconds: 14, rate: rate, level: -54), Self.fan(seconds: 14, rate: rate, level: -42)
        )
        let softly = try #require(Self.corners(of: sum(talk, soft), rate: rate).last)
        let loudly = try #require(Self.corners(of: sum(talk, loud), rate: rate).last)
        #expect((81...115).contains(softly), "\(softly) Hz")
        #expect(loudly > softly + 10 && loudly > 115, "\(loudly) Hz")
        // When the fan stops after 6 s
        let stopped = sum(talk, loud.indices.map { $0 < 6 * rate ? loud[$0] : 0 })
        let corners = Self.corners(of: stopped, rate: rate)
        #expect(corners[5] > 110 && corners[13] < 85, "\(corners)")
    }

    @Test("no voice moves it, however low and long, and no knock", arguments: cases(rates))
    func stays(rate: Int) throws {
        // A hum at 82 Hz with harmonics, and a breath every 3 s
        let hummed = (0..<12 * rate).map { index -> Float in
            let turn = 2 * .pi * 82 * Float(index % rate) / Float(rate)
            return index % (3 * rate) < rate / 2 ? 0 : 0.1 * (sinf(turn) + 0.7 * sinf(2 * turn) + 0.5 * sinf(3 * turn))
        }
        var knocked = speech(seconds: 12, rate: rate, seed: 4)
        for second in [2, 5, 8, 11] {
            for index in 0..<rate / 5 {
                knocked[second * rate + index] += 0.3 * sinf(2 * .pi * 40 * Float(index) / Float(rate))
            }
        }
        for sound in [hummed, knocked] {
            let highest = try #require(Self.corners(of: sound, rate: rate).max())
            #expect(highest < 85, "\(highest) Hz")
        }
    }

    @Test("silence, also digital, and an offset leave it where it is", arguments: cases(rates))
    func silence(rate: Int) {
        let silent = [Float](repeating: 0, count: 120 * rate)
        let offset = [Float](repeating: 0.2, count: 6 * rate)
        let beside = Self.corners(of: offset, rate: rate)
        #expect(beside.allSatisfy { $0 < 85 }, "\(beside)")
        // When somebody has talked, then nothing is heard for two minutes, and then somebody talks again
        let talk = speech(seconds: 4, rate: rate, seed: 6)
        let corners = Self.corners(of: talk + silent + talk, rate: rate)
        #expect(corners.allSatisfy { $0 < 80 }, "\(corners)")
    }
}
