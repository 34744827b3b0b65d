import Glibc
import TestCases
import Testing
import VoiceSignal

@testable import VoiceProcessing

/// Two converters on clocks of their own, in simulated time: 16 kHz, blocks of 10 ms.
private struct SimulatedDuplex: ~Copyable {
    static let rate = 16_000
    static let block = 160

    var aligner = ReferenceAligner(sampleRate: rate)
    var generator: SeededNumbers
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
        generator = SeededNumbers(seed: seed)
        self.driftPPM = driftPPM
        self.jitter = jitter
    }

    private mutating func late() -> Double {
        guard jitter > 0 else { return 0 }
        return -jitter * log(1 - Double(Float.random(in: 0..<0.999, using: &generator)))
    }

    private static func nanoseconds(_ seconds: Double) -> Int64 { Int64((seconds * 1e9).rounded()) }

    /// The reference: each frame holds its own number, as far as a Float can, and begins anew after `turn` frames.
    private static let turn = 601 * block
    private let marks = (0..<SimulatedDuplex.turn).map { Float($0 + 1) }
    private var reference = [Float](repeating: 0, count: block)
    private var lastError: Double?
    /// The last mark of the block before.
    private var lastMark: Float?
    /// How far the distance of two neighbours ever was from one frame, over blocks that continue each other: the drift,
    /// the correction and a Float's resolution near a million.
    private(set) var roughness: Float = 0

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
        guard alignment.missing == 0 else {
            lastMark = nil
            return Result(alignment: alignment, error: nil)
        }
        let edge = Float(4 * SincInterpolator.reach)
        let isClean = reference.allSatisfy { $0 > edge && $0 < Float(Self.turn) - edge }
        noteRoughness(isClean ? reference : [], continues: !alignment.discontinuity)
        guard isClean else { return Result(alignment: alignment, error: lastError) }
        // Which of the frames with this mark it is: the one nearest to what should be there.
        let wanted = trueFrame(at: now + 0.004, frameTime)
        let residue = Double(reference[Self.block / 2]) - 1 - Double(Self.block / 2)
        let turns = ((wanted - residue) / Double(Self.turn)).rounded()
        lastError = wanted - (residue + turns * Double(Self.turn))
        return Result(alignment: alignment, error: lastError)
    }

    /// Where the marks begin anew the interpolation rings, so blocks near there are left out.
    private mutating func noteRoughness(_ marks: [Float], continues: Bool) {
        guard !marks.isEmpty else {
            lastMark = nil
            return
        }
        if continues, let lastMark { roughness = max(roughness, abs(marks[0] - lastMark - 1)) }
        for index in marks.indices.dropFirst() {
            roughness = max(roughness, abs(marks[index] - marks[index - 1] - 1))
        }
        lastMark = marks[marks.count - 1]
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
    /// 0.5 ms at 16 kHz: the clocks' loops leave about a twentieth of a 1 ms jitter, more in the first seconds.
    private let allowed = 8.0
    /// 1.5 ms right after a jump, when the new stretch's times rest on a few stamps.
    private let allowedAfterJump = 24.0
    /// A Float near a million, which the marks reach, resolves 0.06; 1000 ppm of step would add 0.001. A slip would be
    /// 16.
    private let seamless: Float = 0.1

    @Test("one seamless stream while the clocks agree", arguments: cases([0, 0.0001, 0.001]))
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
        #expect(duplex.roughness < seamless)
        #expect(duplex.aligner.statistics.confidence > 0.9)
        #expect(duplex.aligner.statistics.missingFrames < 100 * 160)
    }

    // Unoptimised code takes some ten times as long, and is given six minutes.
    #if DEBUG
        private static let driftBlocks = 36_000
    #else
        private static let driftBlocks = 360_000
    #endif

    @Test("an hour of drift: no slip and no step", arguments: cases([-300.0, -50, 50, 300]))
    func drift(ppm: Double) throws {
        var duplex = SimulatedDuplex(seed: 62, driftPPM: ppm, jitter: 0.0005)
        var (worst, worstLate) = (0.0, 0.0)
        var leastDelay = Int.max
        var broken = 0
        for number in 0..<Self.driftBlocks {
            let result = duplex.step()
            guard number > 500 else { continue }
            let error = abs(result.error ?? .infinity)
            worst = max(worst, error)
            if number > 6_000 { worstLate = max(worstLate, error) }
            leastDelay = min(leastDelay, result.alignment.delay)
            broken += result.alignment.discontinuity ? 1 : 0
        }
        let statistics = duplex.aligner.statistics
        #expect(worst < allowed)
        #expect(worstLate < 3, "a fifth of a millisecond after a minute")
        #expect(leastDelay > 0, "the reference must come before its echo")
        #expect(broken == 0)
        #expect(statistics.slips == 0)
        #expect(duplex.roughness < seamless)
        #expect(try abs(#require(statistics.driftPPM) - ppm) < 8)
        #expect(statistics.jumps == 0)
    }

    @Test("a resampled tone stays a tone", arguments: cases([16_000, 48_000]), cases([-300.0, 300]))
    func tone(rate: Int, ppm: Double) {
        // Given a DAC clock that is off by `ppm` and exact time stamps
        var aligner = ReferenceAligner(sampleRate: rate)
        let block = rate / 100
        let frequency = 0.4 * Double(rate)
        let frameTime = 1 / (Double(rate) * (1 + ppm * 1e-6))
        var (played, recorded) = (0, 0)
        var reference = [Float](repeating: 0, count: block)
        var heard: [Float] = []
        // When a tone near the band's upper edge is played
        while recorded < 3_000 {
            while Double(played * block) * frameTime < Double(recorded) * 0.01 + 0.06 {
                let tone = (0..<block).map {
                    Float(sin(2 * .pi * frequency * Double(played * block + $0) / Double(rate)))
                }
                aligner.played(tone.span, at: Int64((Double(played * block) * frameTime * 1e9).rounded()))
                played += 1
            }
            var span = reference.mutableSpan
            _ = aligner.recorded(at: Int64(recorded) * 10_000_000, reference: &span)
            recorded += 1
            if recorded > 2_900 { heard += reference }
        }
        // Then it comes out at its pitch by the microphone's clock, whole: what a rotation by that pitch does not
        // predict is 50 dB down.
        let omega = 2 * Double.pi * frequency * (1 + ppm * 1e-6) / Double(rate)
        let twiceCosine = Float(2 * cos(omega))
        let residue = (2..<heard.count).map { heard[$0] - twiceCosine * heard[$0 - 1] + heard[$0 - 2] }
        #expect(rms(heard) - rms(residue) > 50)
        #expect(abs(rms(heard) + 3.01) < 0.2)
    }

    @Test("a delay that jumps by 120 ms is followed within 50 ms", arguments: cases([0.12, 0.03]))
    func jump(seconds: Double) {
        var duplex = SimulatedDuplex(seed: 63, jitter: 0.0003)
        for _ in 0..<1_000 { _ = duplex.step() }
        duplex.pause(seconds: seconds)
        duplex.playbackBuffer += seconds
        let before = duplex.aligner.statistics
        var settledAfter = 0
        for number in 0..<500 {
            let result = duplex.step()
            if let error = result.error, abs(error) > allowedAfterJump { settledAfter = number + 1 }
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
                #expect(abs(result.error ?? .infinity) < allowedAfterJump)
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
                if number > 15 { #expect(abs(result.error ?? .infinity) < allowedAfterJump) }
            }
        }
        #expect(duplex.aligner.statistics.jumps == 40)
    }

    @Test(
        "playback that is handed over only just ahead is never read before it is there",
        arguments: cases([-600.0, 600]))
    func shortLead(ppm: Double) throws {
        // Given a playback of 2.5 ms periods, two ahead, whose clock wanders through all phases of the microphone's: at
        // 48 kHz, and an echo of it in a room
        let rate = 48_000
        let (block, period) = (rate / 100, rate / 400)
        let far = speech(seconds: 20, rate: rate, seed: 67)
        let echoed = echo(of: far, rate: rate, delay: rate / 25)
        let hiss = noise(seconds: 20, rate: rate, seed: 68, level: -75)
        let frameTime = 1 / (Double(rate) * (1 + ppm * 1e-6))
        let interpolator = SincInterpolator()
        var aligner = ReferenceAligner(sampleRate: rate)
        let processor = try ProcessingBackend.native.makeProcessor(
            sampleRate: rate, settings: ProcessingSettings(echo: .soft))
        var (reference, heard) = ([Float](repeating: 0, count: block), [Float](repeating: 0, count: block))
        var (played, missingLate, moves) = (0, 0, 0)
        var (came, left): (Float, Float) = (0, 0)
        var worstError = 0.0
        // When it is aligned and cancelled
        for number in 0..<(isOptimised ? 1_900 : 1_000) {
            let end = Double((number + 1) * block) / Double(rate)
            while Double(played) * frameTime < end + 0.005 - Double(period) * frameTime {
                let time = Int64((Double(played) * frameTime * 1e9).rounded())
                aligner.played(far.span.extracting(played..<played + period), at: time)
                played += period
            }
            var aligned = reference.mutableSpan
            let alignment = aligner.recorded(at: Int64(number) * 10_000_000, reference: &aligned)
            if number > 500 {
                missingLate += alignment.missing
                worstError = max(worstError, abs(aligner.statistics.timingError))
            }
            if number > 10, alignment.discontinuity { moves += 1 }
            let position = Double(number * block) / Double(rate) / frameTime
            var microphone = heard.mutableSpan
            if number > 0 {
                interpolator.read(echoed.span, from: position, step: 1 / frameTime / Double(rate), into: &microphone)
            }
            for index in heard.indices { heard[index] += hiss[number * block + index] }
            if number > 500 { came += rms(heard).power }
            var output = heard.mutableSpan
            _ = processor.run(capture: &output, reference: reference.span, delay: alignment.delay)
            if number > 500 { left += rms(heard).power }
        }
        // Then it lacks nothing, was moved a few times only and runs at the clocks' ratio, and the echo is gone
        // throughout
        #expect(missingLate == 0)
        #expect(worstError < 1, "\(worstError) frames")
        #expect(moves <= 3)
        #expect(aligner.statistics.lead <= 0.002)
        #expect(10 * log10f(came / left) > 30)
        // And with another device it is as at first
        aligner.playbackChanged()
        #expect(aligner.statistics.lead == ReferenceAligner.Configuration().lead)
    }
}

extension Float {
    /// Of decibels.
    fileprivate var power: Float { powf(10, self / 10) }
}
