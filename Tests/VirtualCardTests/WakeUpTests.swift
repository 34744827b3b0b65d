import CALSA
import Testing

@Suite("Virtual card: wake-ups and positions", .serialized)
struct WakeUpTests {
    /// The frames that are there at each of `count` wake-ups of a capture, all of which are read each time.
    private static func wakes(_ arguments: String, _ count: Int, _ shape: Shape = Shape(periods: 16)) throws -> [Int] {
        try CardWorkshop.withCard("VIRTUAL=1" + arguments) { card in
            let capture = try CardStream(card.pcm, .capture, shape)
            try capture.start()
            return try (0..<count).map { _ in
                try capture.wait()
                let available = try capture.available()
                #expect(try capture.delay() == available)
                _ = try capture.read(available)
                return available
            }
        }
    }

    @Test("without jitter the program is woken at the end of each period, to the frame")
    func punctual() throws {
        #expect(try Self.wakes("", 50) == [Int](repeating: 480, count: 50))
    }

    @Test("jitter makes wake-ups late, evenly up to its most, and the same with the same seed")
    func jitter() throws {
        // Frames of lateness, from the frames that are there: those of the period, and those that came since.
        func lateness(seed: Int) throws -> [Int] {
            var position = 0
            return try Self.wakes(",JITTER_US=5000,SEED=\(seed)", 1_000).map { available in
                position += available
                return position % 480
            }
        }
        let late = try lateness(seed: 1)
        #expect(late.allSatisfy { (0...240).contains($0) })
        let mean = Double(late.reduce(0, +)) / Double(late.count)
        // The mean of so many even numbers up to 240 spreads by 2.2.
        #expect(abs(mean - 120) < 11, "mean \(mean) frames")
        #expect((late.max() ?? 0) > 230 && (late.min() ?? 240) < 10)
        #expect(try lateness(seed: 1) == late)
        #expect(try lateness(seed: 2) != late)
    }

    @Test("the position moves in steps", arguments: [(48, 48), (0, 480), (100, 100)])
    func granule(argument: Int, step: Int) throws {
        let wakes = try Self.wakes(",JITTER_US=4000,GRANULE_FRAMES=\(argument)", 200)
        var position = 0
        for available in wakes {
            position += available
            #expect(position.isMultiple(of: step))
        }
        #expect(wakes.contains { !$0.isMultiple(of: 480) } == (step != 480))
    }

    @Test("a program that wants a part of a period more waits for its end, or not", arguments: [(1, 960), (0, 600)])
    func interrupts(argument: Int, expected: Int) throws {
        var shape = Shape(periods: 16)
        shape.availableMinimum = 600
        let wakes = try Self.wakes(",INTERRUPTS=\(argument)", 20, shape)
        #expect(wakes == [Int](repeating: expected, count: 20))
    }

    @Test("during a stall the device runs on and the program sleeps")
    func stall() throws {
        let wakes = try Self.wakes(",STALL_AFTER_S=0.1,STALL_MS=55", 13)
        // Nine periods; then nothing from 100 ms to 155 ms; the interrupt at 160 ms finds half a period, that at 170 ms
        // enough; then period by period.
        #expect(wakes == [Int](repeating: 480, count: 9) + [6 * 480 + 240, 720, 480, 480])
    }

    @Test("a stall on demand is one too")
    func stallOnDemand() throws {
        try CardWorkshop.withCard("VIRTUAL=1") { card in
            let capture = try CardStream(card.pcm, .capture, Shape(periods: 16))
            try capture.start()
            _ = try capture.read(480)
            _ = try card.control("stall", "capture", "60")
            try capture.wait()
            #expect(try capture.available() == 6 * 480)
        }
    }

    @Test("playback's delay is what is queued")
    func delay() throws {
        try CardWorkshop.withCard("VIRTUAL=1,DELAY_FRAMES=1000") { card in
            let playback = try CardStream(card.pcm, .playback, Shape())
            try playback.write([Float](repeating: 0, count: 1_920))
            #expect(try playback.delay() == 1_920)
            try playback.start()
            try playback.wait()
            #expect(try playback.delay() == 1_440)
            #expect(try playback.available() == 480)
        }
    }
}
