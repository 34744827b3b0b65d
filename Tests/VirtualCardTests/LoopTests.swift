import CALSA
import Testing

@Suite("Virtual card: what is played is heard", .serialized)
struct LoopTests {
    static let formats = [SND_PCM_FORMAT_S16_LE, SND_PCM_FORMAT_S32_LE, SND_PCM_FORMAT_FLOAT_LE]

    /// Plays `signal` from card time 0 and hears `frames` from then on, in virtual time, one period after the other.
    static func loop<Sample: Numeric>(
        _ card: CardName, _ signal: [Sample], hearing frames: Int, _ shape: Shape, playbackArguments: String? = nil,
        captureArguments: String? = nil
    ) throws -> [Sample] {
        let playback = try CardStream(card.pcm(playbackArguments ?? card.arguments), .playback, shape)
        let capture = try CardStream(card.pcm(captureArguments ?? card.arguments), .capture, shape)
        let channels = Int(shape.channels)
        let padded = signal + [Sample](repeating: 0, count: (frames + shape.buffer) * channels)
        let queued = shape.buffer * channels
        try playback.write(Array(padded[..<queued]))
        try playback.start()
        try capture.start()
        var heard: [Sample] = []
        var next = queued
        while heard.count < frames * channels {
            heard += try capture.read(shape.period, as: Sample.self)
            let end = min(next + shape.period * channels, padded.count)
            try playback.write(Array(padded[next..<end]))
            next = end
        }
        return Array(heard[..<(frames * channels)])
    }

    struct Case: CustomTestStringConvertible, Sendable {
        var format: snd_pcm_format_t
        var channels: UInt32
        var rate: UInt32
        var delay: Int
        var period = 480
        var testDescription: String {
            unsafe "\(String(cString: snd_pcm_format_name(format))) \(channels) ch \(rate) Hz delay \(delay) period \(period)"
        }
    }

    static let cases: [Case] =
        formats.flatMap { format in [1, 2].map { Case(format: format, channels: $0, rate: 48_000, delay: 137) } }
        + [0, 1, 4_800].map { Case(format: SND_PCM_FORMAT_S16_LE, channels: 1, rate: 48_000, delay: $0) }
        + [8_000, 16_000, 44_100, 96_000].map { Case(format: SND_PCM_FORMAT_S16_LE, channels: 1, rate: $0, delay: 33) }
        + [37, 120, 1_024].map {
            Case(format: SND_PCM_FORMAT_FLOAT_LE, channels: 1, rate: 48_000, delay: 5, period: $0)
        }

    @Test("to the sample, at the delay that was asked for", arguments: cases)
    func exact(_ c: Case) throws {
        switch c.format {
        case SND_PCM_FORMAT_S16_LE: try expectExact(c, Noise.int16(9_600, seed: 1))
        case SND_PCM_FORMAT_S32_LE: try expectExact(c, Noise.int24(9_600, seed: 2))
        default: try expectExact(c, Noise.float(9_600, seed: 3))
        }
    }

    private func expectExact<Sample: Numeric>(_ c: Case, _ mono: [Sample]) throws {
        let channels = Int(c.channels)
        let signal = mono.flatMap { [Sample](repeating: $0, count: channels) }
        let shape = Shape(format: c.format, channels: c.channels, rate: c.rate, period: c.period)
        try CardWorkshop.withCard("VIRTUAL=1,RATE=\(c.rate),DELAY_FRAMES=\(c.delay)") { card in
            let heard = try Self.loop(card, signal, hearing: mono.count + c.delay, shape)
            #expect(heard == [Sample](repeating: 0, count: c.delay * channels) + signal)
        }
    }

    @Test("the speaker plays the mean of its channels")
    func mean() throws {
        let shape = Shape(format: SND_PCM_FORMAT_S16_LE, channels: 2, period: 480)
        let left = Noise.int16(960, seed: 4).map { $0 / 2 * 2 }
        let right = Noise.int16(960, seed: 5).map { $0 / 2 * 2 }
        let signal: [Int16] = zip(left, right).flatMap { [$0, $1] }
        try CardWorkshop.withCard("VIRTUAL=1") { card in
            let heard = try Self.loop(card, signal, hearing: 960, shape)
            let means: [Int16] = zip(left, right).map { $0 / 2 + $1 / 2 }
            #expect(heard == means.flatMap { [$0, $0] })
        }
    }

    @Test("mapped access moves the same samples")
    func mapped() throws {
        let shape = Shape(format: SND_PCM_FORMAT_S16_LE, access: SND_PCM_ACCESS_MMAP_INTERLEAVED)
        let signal = Noise.int16(4_800, seed: 6)
        try CardWorkshop.withCard("VIRTUAL=1,DELAY_FRAMES=100") { card in
            let heard = try Self.loop(card, signal, hearing: 4_900, shape)
            #expect(heard.dropFirst(100).elementsEqual(signal))
        }
    }

    @Test("a plain loop of one thread comes back after two periods, exactly", arguments: [120, 240, 480])
    func roundTrip(period: Int) throws {
        let pcm = "vcard:VIRTUAL=1"
        let output = try Tool.withCard().run(["vcard-probe", "loop", pcm, pcm, "\(period)", "10"])
        #expect(output.status == 0, "\(output.errors)")
        #expect(output.text.contains("round_trip_frames_min \(2 * period)\n"))
        #expect(output.text.contains("round_trip_frames_max \(2 * period)\n"))
    }
}
