import CALSA
import Foundation
import Testing

@Suite("Virtual card: room and near talker", .serialized)
struct RoomTests {
    /// Writes a file that lives as long as `body` runs.
    static func withFile<R>(_ suffix: String, _ bytes: [UInt8], _ body: (String) throws -> R) throws -> R {
        let file = FileManager.default.temporaryDirectory.appending(path: "vcard-\(UUID().uuidString)\(suffix)")
        try Data(bytes).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try body(file.path())
    }

    static func bytes(_ value: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
    }

    static func raw(_ samples: [Float]) -> [UInt8] { samples.flatMap { bytes(UInt64($0.bitPattern), 4) } }
    static func raw(_ samples: [Int16]) -> [UInt8] { samples.flatMap { bytes(UInt64(UInt16(bitPattern: $0)), 2) } }

    /// A WAV file with a chunk that is to be skipped before the samples.
    static func wav(_ samples: [UInt8], format: UInt64, bits: UInt64, channels: UInt64 = 1, rate: UInt64 = 48_000)
        -> [UInt8]
    {
        let frame = channels * bits / 8
        let description = bytes(format, 2) + bytes(channels, 2) + bytes(rate, 4) + bytes(rate * frame, 4)
        let chunks =
            Array("WAVEfmt ".utf8) + bytes(16, 4) + description + bytes(frame, 2) + bytes(bits, 2)
            + Array("LIST".utf8) + bytes(3, 4) + [1, 2, 3, 0] + Array("data".utf8) + bytes(UInt64(samples.count), 4)
            + samples
        return Array("RIFF".utf8) + bytes(UInt64(chunks.count), 4) + chunks
    }

    static func convolved(_ signal: [Float], _ response: [Float], _ frames: Int) -> [Double] {
        (0..<frames).map { i in
            response.indices.reduce(0.0) { sum, k in
                i - k >= 0 && i - k < signal.count ? sum + Double(response[k]) * Double(signal[i - k]) : sum
            }
        }
    }

    @Test("what is heard is the convolution with the room, delayed and at its gain", arguments: ["f32", "wav", "s16"])
    func room(form: String) throws {
        // A direct sound, an early echo and a tail, in steps that 16 bits hold.
        var response = [Float](repeating: 0, count: 400)
        response[3] = 0.5
        response[150] = -0.25
        for (i, tap) in Noise.int16(200, seed: 41).enumerated() { response[200 + i] = Float(tap / 32) / 32_768 }
        let signal = Noise.float(2_400, seed: 42)
        let integers = response.map { Int16($0 * 32_768) }
        let file: [UInt8] =
            switch form {
            case "f32": Self.raw(response)
            case "s16": Self.raw(integers)
            default: Self.wav(Self.raw(integers), format: 1, bits: 16)
            }
        try Self.withFile("." + form, file) { path in
            try CardWorkshop.withCard("VIRTUAL=1,DELAY_FRAMES=50,GAIN=-0.5,ROOM=\(path)") { card in
                let heard = try LoopTests.loop(card, signal, hearing: 2_880, Shape())
                let expected = Self.convolved(signal, response, 2_880 - 50).map { -0.5 * $0 }
                for (i, sample) in heard.enumerated() {
                    let wanted = i < 50 ? 0 : expected[i - 50]
                    #expect(abs(Double(sample) - wanted) < 1e-6, "frame \(i)")
                    if abs(Double(sample) - wanted) >= 1e-6 { break }
                }
            }
        }
    }

    @Test("a capture that starts late hears, in the room, what was played before it")
    func tail() throws {
        var response = [Float](repeating: 0, count: 701)
        response[700] = 1
        let signal = Noise.float(1_920, seed: 43)
        try Self.withFile(".f32", Self.raw(response)) { path in
            try CardWorkshop.withCard("VIRTUAL=1,ROOM=\(path)") { card in
                let playback = try CardStream(card.pcm, .playback)
                try playback.write(signal)
                try playback.start()
                // Nobody else is there for whom time would wait.
                try playback.wait()
                let capture = try CardStream(card.pcm, .capture)
                try capture.start()
                // Its frame 0 is frame 480 of what was played, and of that it hears what left the speaker 700 frames
                // before.
                let heard = try capture.read(960)
                #expect(heard == [Float](repeating: 0, count: 220) + signal[..<740])
            }
        }
    }

    @Test("a near talker is heard beside the speaker, from capture's start, again and again or once")
    func near() throws {
        let talker = Noise.int16(1_000, seed: 44).map { $0 / 4 * 2 }
        let signal = Noise.int16(2_880, seed: 45).map { $0 / 4 * 2 }
        for repeats in [0, 1] {
            try Self.withFile(".wav", Self.wav(Self.raw(talker), format: 1, bits: 16)) { path in
                let arguments = "VIRTUAL=1,DELAY_FRAMES=9,GAIN=0.5,NEAR=\(path),NEAR_GAIN=0.5,NEAR_REPEAT=\(repeats)"
                try CardWorkshop.withCard(arguments) { card in
                    let shape = Shape(format: SND_PCM_FORMAT_S16_LE)
                    let heard = try LoopTests.loop(card, signal, hearing: 2_880, shape)
                    let expected = (0..<2_880).map { i -> Int16 in
                        let near = repeats == 1 || i < 1_000 ? talker[i % 1_000] / 2 : 0
                        return near + (i >= 9 ? signal[i - 9] / 2 : 0)
                    }
                    #expect(heard == expected)
                }
            }
        }
    }
}
