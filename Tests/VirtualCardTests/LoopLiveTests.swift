import CALSA
import Testing

@Suite("Virtual card: what is played is heard in real time", .serialized)
struct LoopLiveTests {
    @Test("in real time too, wherever the two starts fall")
    func realTime() throws {
        // Nothing here has a deadline: all is queued before the start, and the capture buffer holds all that is heard.
        let shape = Shape(format: SND_PCM_FORMAT_S16_LE, period: 480, periods: 50)
        let signal = Noise.int16(9_600, seed: 7)
        try CardWorkshop.withCard("DELAY_FRAMES=480") { card in
            let capture = try CardStream(card.pcm, .capture, shape)
            let playback = try CardStream(card.pcm, .playback, shape)
            try playback.write(signal)
            try capture.start()
            try playback.start()
            let heard = try capture.read(14_400, as: Int16.self)
            let first = try #require(heard.firstIndex { $0 != 0 })
            let start = first - (signal.firstIndex { $0 != 0 } ?? 0)
            #expect(heard[start...].prefix(signal.count).elementsEqual(signal))
            #expect(start >= 480)
        }
    }
}
