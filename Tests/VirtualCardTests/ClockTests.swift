import CALSA
import Foundation
import Testing

@Suite("Virtual card: clocks", .serialized)
struct ClockTests {
    private static let shape = Shape(format: SND_PCM_FORMAT_FLOAT_LE, period: 4_800)

    /// A number out of `vcard-control status`.
    static func status(_ card: CardName, _ name: String) throws -> Double {
        let lines = try card.control("status").split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix(name + " ") }, "no \(name)")
        return try #require(Double(line.dropFirst(name.count + 1)))
    }

    @Test(
        "each direction runs as fast as it was asked to, over two minutes",
        arguments: [Direction.capture, .playback], [0, 300, -150.25, 0.5, 5_000])
    func rate(direction: Direction, ppm: Double) throws {
        let name = direction == .capture ? "capture" : "playback"
        try CardWorkshop.withCard("VIRTUAL=1,PPM_\(name.uppercased())=\(ppm)") { card in
            let stream = try CardStream(card.pcm, direction, Self.shape)
            let block = [Float](repeating: 0, count: 4_800)
            if direction == .playback { for _ in 0..<4 { try stream.write(block) } }
            try stream.start()
            for _ in 0..<1_200 {
                if direction == .capture { _ = try stream.read(4_800) } else { try stream.write(block) }
            }
            _ = try stream.available()
            let seconds = try Self.status(card, "time_s")
            let frames = try Self.status(card, "\(name).position")
            let measured = (frames / (48_000 * seconds) - 1) * 1e6
            #expect(abs(measured - ppm) < 0.2, "measured \(measured) ppm over \(seconds) s")
        }
    }

    /// Blocks of a tenth of a second, at the beginning and after a minute.
    private static let compared = [5, 589]

    @Test(
        "what is heard is the tone as the two clocks make it, after a minute too",
        arguments: [(0.0, 300.0), (-120.5, 0.0), (80.0, -250.0)])
    func tone(playbackPPM: Double, capturePPM: Double) throws {
        let delay = 100
        let arguments = "VIRTUAL=1,DELAY_FRAMES=\(delay),PPM_PLAYBACK=\(playbackPPM),PPM_CAPTURE=\(capturePPM)"
        try CardWorkshop.withCard(arguments) { card in
            let playback = try CardStream(card.pcm, .playback, Self.shape)
            let capture = try CardStream(card.pcm, .capture, Self.shape)
            // A period holds a hundred cycles of a tone of 1 kHz.
            let cycles = (0..<4_800).map { Float(0.5 * sin(2 * Double.pi * Double($0) / 48)) }
            for _ in 0..<4 { try playback.write(cycles) }
            try playback.start()
            try capture.start()
            let kept = Handover<[Float]>()
            try onThreads([
                {
                    for _ in 0..<600 { try playback.write(cycles) }
                    playback.close()
                },
                {
                    for block in 0..<590 {
                        let heard = try capture.read(4_800)
                        if Self.compared.contains(block) { kept.give(heard) }
                    }
                    capture.close()
                },
            ])
            for block in Self.compared { expectTone(try kept.take(), from: block * 4_800) }
        }

        func expectTone(_ heard: [Float], from first: Int) {
            let ratio = (1 + playbackPPM * 1e-6) / (1 + capturePPM * 1e-6)
            var signal = 0.0
            var error = 0.0
            for (i, sample) in heard.enumerated() {
                let played = Double(first + i) * ratio - Double(delay)
                let expected = 0.5 * sin(2 * Double.pi * played / 48)
                signal += expected * expected
                error += (Double(sample) - expected) * (Double(sample) - expected)
            }
            let ratioInDecibels = 10 * log10(signal / error)
            // A clock off by 0.01 ppm would after a minute be 49 dB.
            #expect(ratioInDecibels > 95, "\(ratioInDecibels) dB from frame \(first)")
        }
    }

    @Test("clocks that are off alike pass every sample unchanged")
    func together() throws {
        let signal = Noise.float(9_600, seed: 21)
        try CardWorkshop.withCard("VIRTUAL=1,PPM_PLAYBACK=250,PPM_CAPTURE=250,DELAY_FRAMES=7") { card in
            let heard = try LoopTests.loop(card, signal, hearing: 9_607, Shape())
            #expect(heard.dropFirst(7).elementsEqual(signal))
        }
    }
}
