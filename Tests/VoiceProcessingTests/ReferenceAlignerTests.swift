import Glibc
import Testing

@testable import VoiceProcessing

/// Two converters on clocks of their own, in simulated time: 16 kHz, blocks of 10 ms.
private struct SimulatedDuplex: ~Copyable {
    static let rate = 16_000
    static let block = 160

    var aligner = ReferenceAligner(sampleRate: rate)
    var generator: SeededGenerator
    /// How much faster the DAC's clock runs than the ADC's, ppm.
    let driftPPM: Double
    /// Time stamps are late by an exponential amount of this mean, seconds: scheduling.
    let jitter: Double
    /// Seconds that playback is handed to the device before it is heard.
    var playbackBuffer = 0.06
    private var played: Int64 = 0
    private(set) var recordedBlocks: Int64 = 0
    /// True time at which the frame after the last one played is heard.
    private var heardUntil = 0.1
    /// True beginnings of what was played: frame and time.
    private var beginnings: [(frame: Int64, time: Double)] = []

    init(seed: UInt64, driftPPM: Double = 0, jitter: Double = 0) {
        generator = SeededGenerator(seed: seed)
        self.driftPPM = driftPPM
        self.jitter = jitter
    }

    private mutating func late() -> Double {
        guard jitter > 0 else { return 0 }
        return -jitter * log(1 - Double(Float.random(in: 0..<0.999, using: &generator)))
    }

    private static func nanoseconds(_ seconds: Double) -> Int64 { Int64((seconds * 1e9).rounded()) }

    /// The reference: each frame holds its own number, as far as a Float can, and begins anew after `turn` frames.
    private static let turn = 6_251 * block
    private let marks = (0..<SimulatedDuplex.turn).map { Float($0 + 1) }
    private var reference = [Float](repeating: 0, count: block)

    /// Playback does not come for a while: an underrun, a pause, a longer buffer.
    mutating func pause(seconds: Double) { heardUntil += seconds }

    struct Result {
        var alignment: ReferenceAligner.Alignment
        /// Frames by which the block that came out is older than what was in the air a lead later; nil for silence.
        var error: Double?
    }

    /// Records one block, after playing what is due.
    mutating func step(playing: Bool = true) -> Result {
        let now = Double(recordedBlocks * Int64(Self.block)) / Double(Self.rate)
        let frameTime = 1 / (Double(Self.rate) * (1 + driftPPM * 1e-6))
        if !playing { heardUntil = max(heardUntil, now + playbackBuffer) }
        while playing, heardUntil < now + playbackBuffer {
            if beginnings.isEmpty || abs(expectedTime(played, frameTime) - heardUntil) > 1e-7 {
                beginnings.append((played, heardUntil))
            }
            let time = Self.nanoseconds(heardUntil + late())
            let first = Int(played % Int64(Self.turn))
            let marks = self.marks
            aligner.played(marks.span.extracting(first..<first + Self.block), at: time)
            played += Int64(Self.block)
            heardUntil += Double(Self.block) * frameTime
        }
        let stamp = Self.nanoseconds(now + late())
        // Taken out and put back, so that the array is not copied.
        var reference: [Float] = []
        swap(&reference, &self.reference)
        defer { swap(&reference, &self.reference) }
        var span = reference.mutableSpan
        let alignment = aligner.recorded(at: stamp, reference: &span)
        recordedBlocks += 1
        guard alignment.missing == 0 else { return Result(alignment: alignment, error: nil) }
        if recordedBlocks % 64 == 0 || alignment.discontinuity {
            for index in 1..<Self.block where reference[index] != 1 {
                #expect(reference[index] == reference[index - 1] + 1, "a seam within a block")
            }
        }
        // Which of the frames with this mark it is: the one nearest to what should be there.
        let wanted = trueFrame(at: now + 0.004, frameTime)
        let residue = Double(Int64(reference[0]) - 1)
        let turns = ((wanted - residue) / Double(Self.turn)).rounded()
        return Result(alignment: alignment, error: wanted - (residue + turns * Double(Self.turn)))
    }

    private func expectedTime(_ frame: Int64, _ frameTime: Double) -> Double {
        guard let last = beginnings.last else { return -1 }
        return last.time + Double(frame - last.frame) * frameTime
    }

    private func trueFrame(at time: Double, _ frameTime: Double) -> Double {
        let from = beginnings.last { $0.time <= time } ?? beginnings[0]
        return Double(from.frame) + (time - from.time) / frameTime
    }
}

@Suite("Reference alignment")
struct ReferenceAlignerTests {
    /// 1 ms at 16 kHz, the slip threshold, and 0.5 ms for the loops' own error.
    private let allowed = 24.0

    @Test("one seamless stream while the clocks agree", arguments: [0, 0.0001, 0.001])
    func contiguous(jitter: Double) {
        var duplex = SimulatedDuplex(seed: 61, jitter: jitter)
        var broken = 0
        for number in 0..<6_000 {
            let result = duplex.step()
            guard number > 100 else { continue }
            broken += result.alignment.discontinuity ? 1 : 0
            #expect(abs(result.error ?? .infinity) < allowed, "block \(number)")
            // The delay that is handed on is what the block's error makes it: 64 frames of lead and the error.
            #expect(abs(Double(result.alignment.delay) - 64 + (result.error ?? 0)) < 12, "block \(number)")
        }
        #expect(broken == 0)
        #expect(duplex.aligner.statistics.confidence > 0.9)
        #expect(duplex.aligner.statistics.missingFrames < 100 * 160)
    }

    @Test("an hour of drift: few slips, never more than the threshold", arguments: [-300.0, -50, 50, 300])
    func drift(ppm: Double) throws {
        var duplex = SimulatedDuplex(seed: 62, driftPPM: ppm, jitter: 0.0005)
        let blocks = 360_000
        var worst = 0.0
        var leastDelay = Int.max
        for number in 0..<blocks {
            let result = duplex.step()
            guard number > 500 else { continue }
            worst = max(worst, abs(result.error ?? .infinity))
            leastDelay = min(leastDelay, result.alignment.delay)
        }
        let statistics = duplex.aligner.statistics
        #expect(worst < allowed)
        #expect(leastDelay > 0, "the reference must come before its echo")
        // A slip is 1 ms: 300 ppm make 1080 in an hour, and the first seconds a few more.
        let expected = abs(ppm) * 1e-6 * 3_600 / 0.001
        #expect(abs(Double(statistics.slips) - expected) < expected * 0.1 + 5)
        #expect(try abs(#require(statistics.driftPPM) - ppm) < 8)
        #expect(statistics.jumps == 0)
    }

    @Test("a delay that jumps by 120 ms is followed within 50 ms", arguments: [0.12, 0.03])
    func jump(seconds: Double) {
        var duplex = SimulatedDuplex(seed: 63, jitter: 0.0003)
        for _ in 0..<1_000 { _ = duplex.step() }
        duplex.pause(seconds: seconds)
        duplex.playbackBuffer += seconds
        let before = duplex.aligner.statistics
        var settledAfter = 0
        for number in 0..<500 {
            let result = duplex.step()
            if let error = result.error, abs(error) > allowed { settledAfter = number + 1 }
        }
        // The old frames play out for 60 ms, then there is a gap, then the jump has to be believed.
        #expect(settledAfter <= 6 + Int(seconds * 100) + 5)
        #expect(duplex.aligner.statistics.jumps == before.jumps + 1)
        #expect(duplex.aligner.statistics.slips == before.slips)
        // What was in the air during the gap was silence.
        let missing = duplex.aligner.statistics.missingFrames - before.missingFrames
        #expect(abs(Double(missing) - seconds * 16_000) < 200)
    }

    @Test("a single late time stamp changes nothing")
    func outlier() {
        var duplex = SimulatedDuplex(seed: 64, jitter: 0.0002)
        for _ in 0..<1_000 { _ = duplex.step() }
        let before = duplex.aligner.statistics
        // When the thread that plays and the one that records each sleep 30 ms over one time stamp.
        let now = Double(duplex.recordedBlocks) * 0.01
        let frames = [Float](repeating: 0, count: 1)
        duplex.aligner.played(frames.span, at: Int64((now + 0.09) * 1e9))
        for _ in 0..<200 { _ = duplex.step() }
        #expect(duplex.aligner.statistics.jumps == before.jumps)
        #expect(duplex.aligner.statistics.slips == before.slips)
    }

    @Test("no reference: silence, counted, and no confidence")
    func absent() {
        var duplex = SimulatedDuplex(seed: 65)
        for _ in 0..<300 {
            let result = duplex.step(playing: false)
            #expect(result.alignment.missing == 160)
        }
        #expect(duplex.aligner.statistics.missingFrames == 300 * 160)
        #expect(duplex.aligner.statistics.confidence == 0)
        // When playback begins, it is found at once.
        var found = false
        for number in 0..<100 {
            let result = duplex.step()
            if number > 10 {
                #expect(abs(result.error ?? .infinity) < allowed)
                found = true
            }
        }
        #expect(found)
    }

    @Test("pauses of the playback, again and again")
    func gaps() {
        var duplex = SimulatedDuplex(seed: 66, driftPPM: 40, jitter: 0.0003)
        for _ in 0..<40 {
            for _ in 0..<150 { _ = duplex.step() }
            for _ in 0..<37 { _ = duplex.step(playing: false) }
            for number in 0..<40 {
                let result = duplex.step()
                if number > 15 { #expect(abs(result.error ?? .infinity) < allowed) }
            }
        }
        #expect(duplex.aligner.statistics.jumps == 40)
    }
}
