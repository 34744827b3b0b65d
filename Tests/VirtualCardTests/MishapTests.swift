import CALSA
import Foundation
import Testing

@Suite("Virtual card: mishaps", .serialized)
struct MishapTests {
    /// Ten seconds of buffer: nothing runs out by itself while a test looks on, however slow the machine is.
    private static let ample = Shape(format: SND_PCM_FORMAT_S16_LE, period: 1_000, periods: 60)
    private static let pipe = -EPIPE
    private static let gone = -ENODEV

    private func expect(_ code: Int32, _ body: () throws -> Void, _ location: SourceLocation = #_sourceLocation) {
        #expect(sourceLocation: location) {
            try body()
        } throws: {
            ($0 as? ALSAFailure)?.code == code
        }
    }

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
        try CardWorkshop.withCard { card in
            let (playback, capture) = try running(card)
            _ = try capture.available() + playback.available()
            _ = try card.control("xrun", "both")
            for stream in [playback, capture] {
                expect(Self.pipe) { _ = try stream.available() }
                #expect(stream.state == SND_PCM_STATE_XRUN)
                expect(Self.pipe) { _ = try stream.delay() }
                try stream.prepare()
                if stream === playback { try stream.write([Int16](repeating: 1, count: 1_000)) }
                try stream.start()
                #expect(stream.state == SND_PCM_STATE_RUNNING)
            }
            _ = try capture.read(1_000, as: Int16.self)
        }
    }

    @Test("an xrun on demand wakes a program from poll", arguments: ["xrun", "unplug"])
    func wakes(command: String) throws {
        try CardWorkshop.withCard { card in
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
            // Half of the buffer is 600 ms: it was not that which woke it.
            #expect(capture.state == (command == "xrun" ? SND_PCM_STATE_XRUN : SND_PCM_STATE_DISCONNECTED))
        }
    }

    @Test("an xrun of the schedule comes at its time, to the frame")
    func scheduledXrun() throws {
        try CardWorkshop.withCard("VIRTUAL=1,XRUN_AFTER_S=0.255") { card in
            let capture = try CardStream(card.pcm, .capture, Shape())
            try capture.start()
            var frames = 0
            expect(Self.pipe) {
                while true {
                    _ = try capture.read(480)
                    frames += 480
                }
            }
            #expect(frames == 25 * 480)
            #expect(try card.control("status").contains("time_s 0.255000\n"))
        }
    }

    @Test("a playback that is not fed runs out, and a capture that is not read overflows")
    func natural() throws {
        for direction in [Direction.playback, .capture] {
            try CardWorkshop.withCard("VIRTUAL=1") { card in
                var shape = Shape()
                shape.availableMinimum = shape.buffer
                let stream = try CardStream(card.pcm, direction, shape)
                if direction == .playback { try stream.write([Float](repeating: 0, count: shape.buffer)) }
                try stream.start()
                expect(Self.pipe) { try stream.wait() }
                #expect(stream.state == SND_PCM_STATE_XRUN)
                #expect(try card.control("status").contains("time_s 0.040000\n"))
            }
        }
    }

    @Test("after an unplug all is ENODEV, until it is plugged in and opened anew")
    func unplug() throws {
        try CardWorkshop.withCard { card in
            let (playback, capture) = try running(card)
            _ = try capture.read(1_000, as: Int16.self)
            _ = try card.control("unplug")
            #expect(capture.pollEvents() & Int32(POLLERR | POLLHUP) == Int32(POLLERR | POLLHUP))
            for stream in [playback, capture] {
                expect(Self.gone) { _ = try stream.delay() }
                expect(Self.gone) { try stream.wait() }
                #expect(stream.state == SND_PCM_STATE_DISCONNECTED)
                expect(Self.gone) { try stream.prepare() }
                expect(Self.gone) { try stream.start() }
            }
            expect(Self.gone) { _ = try capture.read(100, as: Int16.self) }
            expect(Self.gone) { try playback.write([Int16](repeating: 0, count: 100)) }
            expect(Self.gone) { _ = try CardStream(card.pcm, .capture, Self.ample) }

            _ = try card.control("replug")
            // What was pulled stays dead, and is in nobody's way.
            let again = try running(card)
            _ = try again.capture.read(1_000, as: Int16.self)
            expect(Self.gone) { try capture.prepare() }
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
            expect(Self.gone) {
                while true {
                    _ = try capture.read(480)
                    frames += 480
                    try playback.write([Float](repeating: 0, count: 480))
                }
            }
            #expect(frames == 9 * 480)
            expect(Self.gone) { try playback.wait() }
            // Until the card is back; opening cannot hang.
            let deadline = ContinuousClock.now + .seconds(20)
            var isBack = false
            while !isBack, ContinuousClock.now < deadline {
                isBack = (try? CardStream(card.pcm, .capture, Shape())) != nil
            }
            #expect(isBack)
        }
    }

    struct Jump: Sendable, CustomTestStringConvertible {
        var direction: Direction
        var frames: Int
        var testDescription: String { "\(direction) \(frames)" }

        /// What is heard of `signal` when the position leaps at frame `at`.
        func heard(of signal: [Int16], at: Int) -> [Int16] {
            let silence = [Int16](repeating: 0, count: abs(frames))
            let isLost = (direction == .playback) == (frames > 0)
            let rest = Array(signal[(isLost ? at + abs(frames) : at)...])
            return Array(signal[..<at]) + (isLost ? [] : silence) + rest
        }
    }

    @Test(
        "a leap of the position loses or inserts just that much",
        arguments: [Direction.playback, .capture].flatMap { direction in
            [100, -100, 1, -700].map { Jump(direction: direction, frames: $0) }
        })
    func jump(_ jump: Jump) throws {
        let signal = Noise.int16(9_600, seed: 31)
        let name = jump.direction == .playback ? "playback" : "capture"
        try CardWorkshop.withCard("VIRTUAL=1") { card in
            let mishap = "VIRTUAL=1,JUMP_AFTER_S=0.05,JUMP_FRAMES=\(jump.frames)"
            let shape = Shape(format: SND_PCM_FORMAT_S16_LE)
            let heard = try LoopTests.loop(
                card, signal, hearing: 7_200, shape, playbackArguments: name == "playback" ? mishap : nil,
                captureArguments: name == "capture" ? mishap : nil)
            #expect(heard == Array(jump.heard(of: signal, at: 2_400).prefix(7_200)))
        }
    }

    @Test("leaps on demand add up, and leave what was captured before as it was")
    func jumps() throws {
        let signal = Noise.int16(9_600, seed: 33)
        try CardWorkshop.withCard("VIRTUAL=1") { card in
            let shape = Shape(format: SND_PCM_FORMAT_S16_LE, periods: 20)
            let playback = try CardStream(card.pcm, .playback, shape)
            let capture = try CardStream(card.pcm, .capture, shape)
            try playback.write(signal)
            try playback.start()
            try capture.start()
            try capture.wait()
            for frames in ["-700", "100"] {
                _ = try card.control("jump", "capture", frames)
                #expect(try capture.available() == 480)
            }
            let heard = try capture.read(1_440, as: Int16.self)
            #expect(heard == Array(signal[..<480] + signal[1_080..<2_040]))
        }
    }

    @Test("delay and gain can be changed while it plays")
    func live() throws {
        let signal = Noise.int16(9_600, seed: 32).map { $0 / 2 * 2 }
        try CardWorkshop.withCard("VIRTUAL=1,DELAY_FRAMES=480") { card in
            let shape = Shape(format: SND_PCM_FORMAT_S16_LE, periods: 20)
            let playback = try CardStream(card.pcm, .playback, shape)
            let capture = try CardStream(card.pcm, .capture, shape)
            try playback.write(signal)
            try playback.start()
            try capture.start()
            #expect(try capture.read(480, as: Int16.self) == [Int16](repeating: 0, count: 480))
            _ = try card.control("delay", "100")
            let shifted = try capture.read(480, as: Int16.self)
            #expect(shifted == Array(signal[380..<860]))
            _ = try card.control("gain", "0.5")
            let halved: [Int16] = signal[860..<1_340].map { $0 / 2 }
            #expect(try capture.read(480, as: Int16.self) == halved)
            _ = try card.control("gain", "0")
            #expect(try capture.read(480, as: Int16.self) == [Int16](repeating: 0, count: 480))
        }
    }
}
