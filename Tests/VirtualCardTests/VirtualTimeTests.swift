import CALSA
import Foundation
import Synchronization
import Testing

@Suite("Virtual card: virtual time", .serialized)
struct VirtualTimeTests {
    /// What a run looked like from inside: each wake-up's available frames and all that was heard.
    final class Record: Sendable {
        private let state = Mutex<(heard: [Int16], wakes: [Int])>(([], []))

        func note(_ available: Int, _ heard: [Int16]) {
            state.withLock {
                $0.wakes.append(available)
                $0.heard += heard
            }
        }

        var heard: [Int16] { state.withLock { $0.heard } }
        var wakes: [Int] { state.withLock { $0.wakes } }
    }

    /// Some real time that differs from run to run.
    private static func dawdle(_ noise: inout SystemRandomNumberGenerator) {
        switch Int.random(in: 0..<40, using: &noise) {
        case 0: usleep(UInt32.random(in: 0..<2_000, using: &noise))
        case 1..<10: sched_yield()
        default: break
        }
    }

    private static let shape = Shape(format: SND_PCM_FORMAT_S16_LE, period: 480)

    /// Playback and capture on a thread each, with other periods, both slow at random.
    private static func twoThreads(
        _ arguments: String, blocks: Int, capturePeriod: Int = 384
    ) throws -> (playback: Record, capture: Record) {
        try CardWorkshop.withCard(arguments) { card in
            let playback = try CardStream(card.pcm, .playback, shape)
            let capture = try CardStream(
                card.pcm, .capture, Shape(format: SND_PCM_FORMAT_S16_LE, period: capturePeriod))
            let records = (Record(), Record())
            let ready = DispatchSemaphore(value: 0)
            try onThreads([
                {
                    var noise = SystemRandomNumberGenerator()
                    let signal = Noise.int16(480 * 16, seed: 11)
                    try playback.write(Array(signal[..<(480 * 4)]))
                    try playback.start()
                    ready.signal()
                    for block in 0..<blocks {
                        try playback.wait()
                        records.0.note(try playback.available(), [])
                        dawdle(&noise)
                        let at = (block + 4) % 16 * 480
                        try playback.write(Array(signal[at..<(at + 480)]))
                    }
                    // A stream that runs and is never waited for would hold time still.
                    playback.close()
                },
                {
                    var noise = SystemRandomNumberGenerator()
                    ready.wait()
                    dawdle(&noise)
                    try capture.start()
                    for _ in 0..<(blocks * 480 / capturePeriod) {
                        try capture.wait()
                        let available = try capture.available()
                        dawdle(&noise)
                        records.1.note(available, try capture.read(capturePeriod, as: Int16.self))
                    }
                    capture.close()
                },
            ])
            return records
        }
    }

    @Test(
        "two threads, however slow they are, do the same to the bit in each of 20 runs",
        arguments: ["", ",PPM_CAPTURE=217,PPM_PLAYBACK=-90", ",JITTER_US=3000", ",GRANULE_FRAMES=48,DELAY_FRAMES=100"])
    func identical(arguments: String) throws {
        let first = try Self.twoThreads("VIRTUAL=1" + arguments, blocks: 100)
        #expect(first.capture.heard.contains { $0 != 0 })
        for run in 1..<20 {
            let again = try Self.twoThreads("VIRTUAL=1" + arguments, blocks: 100)
            #expect(again.playback.wakes == first.playback.wakes, "playback's wake-ups in run \(run)")
            #expect(again.capture.wakes == first.capture.wakes, "capture's wake-ups in run \(run)")
            #expect(again.capture.heard == first.capture.heard, "what was heard in run \(run)")
        }
    }

    @Test("a third thread between the two keeps it so, as long as they wait for it")
    func thirdThread() throws {
        func run() throws -> [Int16] {
            try CardWorkshop.withCard("VIRTUAL=1,DELAY_FRAMES=240,GAIN=0.5") { card in
                let playback = try CardStream(card.pcm, .playback, Self.shape)
                let capture = try CardStream(card.pcm, .capture, Self.shape)
                let captured = Handover<[Int16]>()
                let rendered = Handover<[Int16]>()
                let record = Record()
                try playback.write(Noise.int16(480 * 4, seed: 5))
                try playback.start()
                try capture.start()
                let blocks = 100
                try onThreads([
                    {
                        for _ in 0..<blocks { captured.give(try capture.read(480, as: Int16.self)) }
                        capture.close()
                    },
                    {
                        var noise = SystemRandomNumberGenerator()
                        for _ in 0..<blocks {
                            let block = try captured.take()
                            Self.dawdle(&noise)
                            record.note(block.count, block)
                            rendered.give(block)
                        }
                    },
                    {
                        for _ in 0..<blocks {
                            // For the card first, and then for the block that was captured by then.
                            try playback.wait()
                            try playback.write(try rendered.take())
                        }
                        playback.close()
                    },
                ])
                return record.heard
            }
        }
        let first = try run()
        // The noise comes round again, at half its level each time.
        #expect(first[(480 * 8)...].contains { $0 != 0 })
        for _ in 1..<10 { #expect(try run() == first) }
    }

    @Test("an hour, with a thread for each direction, loses nothing")
    func hour() throws {
        let period = 1_920
        let shape = Shape(format: SND_PCM_FORMAT_S16_LE, period: period)
        let blocks = 3_600 * 48_000 / period
        // Seven periods of noise over and over: what is heard is known at each place.
        let signal = (0..<7).map { Noise.int16(period, seed: UInt64($0)) }
        let began = ContinuousClock.now
        try CardWorkshop.withCard("VIRTUAL=1,DELAY_FRAMES=\(period)") { card in
            let playback = try CardStream(card.pcm, .playback, shape)
            let capture = try CardStream(card.pcm, .capture, shape)
            for block in 0..<4 { try playback.write(signal[block]) }
            try playback.start()
            try capture.start()
            try onThreads(
                seconds: 300,
                [
                    {
                        for block in 4..<blocks { try playback.write(signal[block % 7]) }
                        playback.close()
                    },
                    {
                        var heard = [Int16](repeating: 0, count: period)
                        try capture.read(into: &heard)
                        for block in 0..<(blocks - 4) {
                            try capture.read(into: &heard)
                            if heard != signal[block % 7] { throw Wrong(block: block) }
                        }
                    },
                ])
            let status = try card.control("status")
            #expect(status.contains("playback.xruns 0\n") && status.contains("capture.xruns 0\n"))
        }
        print("an hour of virtual time took \(ContinuousClock.now - began)")
    }

    struct Wrong: Error { var block: Int }

    @Test("programs that keep their descriptors, and one that polls both in one thread, are followed too")
    func keptDescriptors() throws {
        func run(threads: Int) throws -> [Int16] {
            try CardWorkshop.withCard("VIRTUAL=1,DELAY_FRAMES=64") { card in
                let playback = try CardStream(card.pcm, .playback, Self.shape)
                let capture = try CardStream(card.pcm, .capture, Self.shape)
                let signal = Noise.int16(480 * 200, seed: 9)
                let record = Record()
                try playback.write(Array(signal[..<1_920]))
                try playback.start()
                try capture.start()
                var next = 1_920
                let play = { @Sendable (at: Int) throws in
                    try playback.write(Array(signal[at..<(at + 480)]))
                }
                if threads == 1 {
                    let descriptors = [playback.descriptor, capture.descriptor]
                    while record.heard.count < 480 * 100 {
                        let ready = try CardStream.pollKept([playback, capture], descriptors)
                        if ready[0] {
                            try play(next)
                            next += 480
                        }
                        if ready[1] { record.note(0, try capture.read(480, as: Int16.self)) }
                    }
                } else {
                    try onThreads([
                        {
                            let descriptor = playback.descriptor
                            for block in 4..<110 {
                                while try !CardStream.pollKept([playback], [descriptor])[0] {}
                                try play(block * 480)
                            }
                            playback.close()
                        },
                        {
                            let descriptor = capture.descriptor
                            for _ in 0..<100 {
                                while try !CardStream.pollKept([capture], [descriptor])[0] {}
                                record.note(0, try capture.read(480, as: Int16.self))
                            }
                            capture.close()
                        },
                    ])
                }
                #expect(record.heard.dropFirst(64).elementsEqual(signal[..<(480 * 100 - 64)]))
                return record.heard
            }
        }
        for _ in 0..<5 { #expect(try run(threads: 1) == run(threads: 2)) }
    }

    @Test("one direction alone advances time", arguments: [Direction.playback, .capture])
    func alone(direction: Direction) throws {
        try CardWorkshop.withCard("VIRTUAL=1") { card in
            let stream = try CardStream(card.pcm, direction, Self.shape)
            if direction == .playback {
                try stream.write([Int16](repeating: 1, count: 480 * 4))
                try stream.start()
                for _ in 0..<100 { try stream.write([Int16](repeating: 1, count: 480)) }
                try stream.drain()
                // 104 periods were played, to the end and not beyond.
                #expect(try card.control("status").contains("time_s 1.040000\n"))
            } else {
                try stream.start()
                _ = try stream.read(48_000, as: Int16.self)
                #expect(try card.control("status").contains("time_s 1.000000\n"))
            }
        }
    }

    @Test("a direction that is open but never used holds time for a second of real time at most")
    func unused() throws {
        try CardWorkshop.withCard("VIRTUAL=1") { card in
            let unused = try CardStream(card.pcm, .playback, Self.shape)
            let capture = try CardStream(card.pcm, .capture, Self.shape)
            try onThreads(
                seconds: 20,
                [
                    {
                        try capture.start()
                        _ = try capture.read(480_000, as: Int16.self)
                    }
                ])
            #expect(unused.state == SND_PCM_STATE_PREPARED)
        }
    }

    @Test("time goes on when one of two threads stops, closes, or falls into an xrun and recovers")
    func partnersLeave() throws {
        try CardWorkshop.withCard("VIRTUAL=1") { card in
            let capture = try CardStream(card.pcm, .capture, Self.shape)
            try capture.start()
            let heard = Mutex<[Int16]>([])
            let rounds = Mutex(0)
            try onThreads([
                {
                    let samples = try capture.read(48_000 * 20, as: Int16.self)
                    heard.withLock { $0 = samples }
                },
                {
                    for round in 0..<12 {
                        let playback = try CardStream(card.pcm, .playback, Self.shape)
                        try playback.write([Int16](repeating: 1, count: 960))
                        try playback.start()
                        switch round % 3 {
                        case 0: try playback.drop()
                        case 1: try playback.drain()
                        default:
                            // Nothing more is written: it runs out.
                            do throws(ALSAFailure) {
                                try playback.starve()
                                while true { try playback.wait() }
                            } catch {
                                if error.code != -EPIPE { throw error }
                            }
                            try playback.prepare()
                            try playback.write([Int16](repeating: 1, count: 960))
                            try playback.start()
                        }
                        rounds.withLock { $0 += 1 }
                    }
                },
            ])
            // Then all rounds were played: two periods each, whole where they were drained or ran out
            #expect(rounds.withLock(\.self) == 12)
            let (count, sounding) = heard.withLock { ($0.count, $0.count { $0 == 1 }) }
            #expect(count == 48_000 * 20)
            #expect((8 * 960...16 * 960).contains(sounding), "\(sounding) frames")
        }
    }

    @Test("what is captured after an xrun does not depend on how long the program took to recover")
    func recovery() throws {
        func run(pause: UInt32) throws -> [Int] {
            try CardWorkshop.withCard("VIRTUAL=1") { card in
                let playback = try CardStream(card.pcm, .playback, Self.shape)
                let capture = try CardStream(card.pcm("VIRTUAL=1,XRUN_AFTER_S=0.25"), .capture, Self.shape)
                // A ramp: each frame tells when it was played.
                let ramp = (0..<48_000).map { Int16($0 / 2) }
                try playback.write(Array(ramp[..<1_920]))
                try playback.start()
                try capture.start()
                let record = Record()
                try onThreads([
                    {
                        try playback.write(Array(ramp[1_920...]))
                        playback.close()
                    },
                    {
                        while true {
                            do throws(ALSAFailure) {
                                record.note(0, try capture.read(480, as: Int16.self))
                            } catch {
                                if error.code != -EPIPE { throw error }
                                break
                            }
                        }
                        usleep(pause)
                        try capture.prepare()
                        try capture.start()
                        record.note(0, try capture.read(4_800, as: Int16.self))
                        capture.close()
                    },
                ])
                return record.heard.map { Int($0) }
            }
        }
        let quick = try run(pause: 0)
        #expect(quick.count == 24 * 480 + 4_800 || quick.count == 25 * 480 + 4_800)
        #expect(try run(pause: 100_000) == quick)
    }
}
