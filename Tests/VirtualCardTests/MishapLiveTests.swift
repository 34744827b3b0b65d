import CALSA
import Foundation
import Testing

@Suite("Virtual card: mishaps in real time", .serialized)
struct MishapLiveTests {
    /// Eight seconds of buffer, as much as there is: nothing runs out by itself while a test looks on.
    private static let ample = Shape(format: SND_PCM_FORMAT_S16_LE, rate: 8_000, period: 1_000, periods: 64)

    /// Both directions of a card, running in real time.
    private func running(_ card: CardName) throws -> (playback: CardStream, capture: CardStream) {
        let playback = try CardStream(card.pcm, .playback, Self.ample)
        let capture = try CardStream(card.pcm, .capture, Self.ample)
        try playback.write([Int16](repeating: 1, count: Self.ample.buffer))
        try playback.start()
        try capture.start()
        return (playback, capture)
    }

    @Test("an xrun on demand stops both directions with EPIPE, and they can be started again")
    func xrun() throws {
        try CardWorkshop.withCard("RATE=8000") { card in
            let (playback, capture) = try running(card)
            _ = try capture.available() + playback.available()
            _ = try card.control("xrun", "both")
            for stream in [playback, capture] {
                expectFailure(-EPIPE) { _ = try stream.available() }
                #expect(stream.state == SND_PCM_STATE_XRUN)
                expectFailure(-EPIPE) { _ = try stream.delay() }
                try stream.prepare()
                if stream === playback { try stream.write([Int16](repeating: 1, count: Self.ample.buffer)) }
                try stream.start()
                #expect(stream.state == SND_PCM_STATE_RUNNING)
            }
            _ = try capture.read(1_000, as: Int16.self)
        }
    }

    @Test("an xrun on demand wakes a program from poll", arguments: ["xrun", "unplug"])
    func wakes(command: String) throws {
        try CardWorkshop.withCard("RATE=8000") { card in
            var shape = Self.ample
            shape.availableMinimum = shape.buffer / 2
            let capture = try CardStream(card.pcm, .capture, shape)
            try capture.start()
            let events = Handover<Int32>()
            try onThreads(
                seconds: 20,
                [
                    { events.give(capture.pollEvents()) },
                    {
                        usleep(20_000)
                        _ = try card.control([command] + (command == "xrun" ? ["capture"] : []))
                    },
                ])
            let errors = try events.take() & Int32(POLLERR | POLLHUP)
            #expect(errors == Int32(command == "unplug" ? POLLERR | POLLHUP : POLLERR))
            // Half of the buffer is four seconds: it was not that which woke it.
            #expect(capture.state == (command == "xrun" ? SND_PCM_STATE_XRUN : SND_PCM_STATE_DISCONNECTED))
        }
    }

    @Test("after an unplug all is ENODEV, until it is plugged in and opened anew")
    func unplug() throws {
        try CardWorkshop.withCard("RATE=8000") { card in
            let (playback, capture) = try running(card)
            _ = try capture.read(1_000, as: Int16.self)
            _ = try card.control("unplug")
            #expect(capture.pollEvents() & Int32(POLLERR | POLLHUP) == Int32(POLLERR | POLLHUP))
            for stream in [playback, capture] {
                expectFailure(-ENODEV) { _ = try stream.delay() }
                expectFailure(-ENODEV) { try stream.wait() }
                #expect(stream.state == SND_PCM_STATE_DISCONNECTED)
                expectFailure(-ENODEV) { try stream.prepare() }
                expectFailure(-ENODEV) { try stream.start() }
            }
            expectFailure(-ENODEV) { _ = try capture.read(100, as: Int16.self) }
            expectFailure(-ENODEV) { try playback.write([Int16](repeating: 0, count: 100)) }
            expectFailure(-ENODEV) { _ = try CardStream(card.pcm, .capture, Self.ample) }

            _ = try card.control("replug")
            // What was pulled stays dead, and is in nobody's way.
            let again = try running(card)
            _ = try again.capture.read(1_000, as: Int16.self)
            expectFailure(-ENODEV) { try capture.prepare() }
            capture.close()
            _ = try again.capture.read(1_000, as: Int16.self)
        }
    }

    @Test("it is unplugged by the schedule, and comes back by itself")
    func scheduledUnplug() throws {
        try CardWorkshop.withCard("VIRTUAL=1,UNPLUG_AFTER_S=0.1,REPLUG_AFTER_S=0.05") { card in
            var frames = 0
            let capture = try CardStream(card.pcm, .capture, Shape())
            let playback = try CardStream(card.pcm("VIRTUAL=1"), .playback, Shape())
            try playback.write([Float](repeating: 0, count: 1_920))
            try playback.start()
            try capture.start()
            expectFailure(-ENODEV) {
                while true {
                    _ = try capture.read(480)
                    frames += 480
                    try playback.write([Float](repeating: 0, count: 480))
                }
            }
            #expect(frames == 9 * 480)
            expectFailure(-ENODEV) { try playback.wait() }
            // Until the card is back; opening cannot hang.
            let deadline = ContinuousClock.now + .seconds(20)
            var isBack = false
            while !isBack, ContinuousClock.now < deadline {
                isBack = (try? CardStream(card.pcm, .capture, Shape())) != nil
            }
            #expect(isBack)
        }
    }
}
