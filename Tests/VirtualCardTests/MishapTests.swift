import CALSA
import Foundation
import Testing

@Suite("Virtual card: mishaps", .serialized)
struct MishapTests {
    @Test("an xrun of the schedule comes at its time, to the frame")
    func scheduledXrun() throws {
        try CardWorkshop.withCard("VIRTUAL=1,XRUN_AFTER_S=0.255") { card in
            let capture = try CardStream(card.pcm, .capture, Shape())
            try capture.start()
            var frames = 0
            expectFailure(-EPIPE) {
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
                expectFailure(-EPIPE) { try stream.wait() }
                #expect(stream.state == SND_PCM_STATE_XRUN)
                #expect(try card.control("status").contains("time_s 0.040000\n"))
            }
        }
    }

    @Test("a stream that runs is prepared only once it was stopped")
    func running() throws {
        try CardWorkshop.withCard("VIRTUAL=1") { card in
            let capture = try CardStream(card.pcm, .capture, Shape())
            try capture.start()
            _ = try capture.read(480)
            expectFailure(-EBUSY) { try capture.prepare() }
            try capture.drop()
            try capture.prepare()
            try capture.start()
            _ = try capture.read(480)
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
