import CALSA
import Testing

@Suite("Virtual card: what is played is heard in real time", .serialized)
struct LoopLiveTests {
    @Test("in real time too, wherever the two starts fall")
    func realTime() throws {
        // Nothing here has a deadline but the eight seconds that the capture buffer holds: all is queued before the
        // start.
        let shape = Shape(format: SND_PCM_FORMAT_S16_LE, rate: 8_000, period: 480, periods: 136)
        let signal = Noise.int16(9_600, seed: 7)
        try CardWorkshop.withCard("RATE=8000,DELAY_FRAMES=480") { card in
            let capture = try CardStream(card.pcm, .capture, shape)
            let playback = try CardStream(card.pcm, .playback, shape)
            try playback.write(signal)
            try capture.start()
            try playback.start()
            var heard: [Int16] = []
            while heard.drop(while: { $0 == 0 }).count < signal.count, heard.count < 20 * 8_000 {
                heard += try capture.read(480, as: Int16.self)
            }
            let first = try #require(heard.firstIndex { $0 != 0 })
            let start = first - (signal.firstIndex { $0 != 0 } ?? 0)
            #expect(heard[start...].prefix(signal.count).elementsEqual(signal))
            #expect(start >= 480)
        }
    }
}
