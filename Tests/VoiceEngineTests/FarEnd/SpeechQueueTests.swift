import TestCases
import Testing
import VoiceDevices
import VoiceRealtime
import VoiceSimulation

@testable import VoiceEngine

/// The two ends of a far end's queue, on one thread.
private final class QueueRig {
    let line: FarEndLine
    private var pulled = 0

    init(_ configuration: FarEndConfiguration = FarEndConfiguration()) throws { line = try FarEndLine(configuration) }

    func offer(_ samples: [Float], rate: SoundRate = .hertz48000, _ utterance: UInt32, isLast: Bool = false) -> Int {
        unsafe line.feed.pointer.pointee.offer(
            SoundSamples(samples.span), rate: rate, utterance: utterance, isLast: isLast)
    }

    func finish(_ utterance: UInt32) { unsafe line.feed.pointer.pointee.finish(utterance) }

    func pull(_ frames: Int) -> [Float] {
        var output = [Float](repeating: .nan, count: frames)
        var span = output.mutableSpan
        unsafe line.queue.pointer.pointee.pull(into: &span, ringFrame: Double(pulled), scale: 1)
        pulled += frames
        return output
    }

    /// What is added to a mix of silence.
    func mix(_ frames: Int) -> [Float] {
        var mix = [Float](repeating: 0, count: frames)
        var scratch = mix
        var mixSpan = mix.mutableSpan
        var scratchSpan = scratch.mutableSpan
        unsafe line.queue.pointer.pointee.mix(
            into: &mixSpan, scratch: &scratchSpan, ringFrame: Double(pulled), scale: 1)
        pulled += frames
        return mix
    }

    /// How much of an utterance is heard where all that was pulled leaves the DAC.
    func heard(of utterance: UInt32) -> Int {
        let span = RenderedSpan(firstFrame: 0, frames: pulled, dacTime: MonotonicTime(nanoseconds: 0))
        unsafe line.queue.pointer.pointee.trail.rendered(span)
        return unsafe line.queue.pointer.pointee.trail.heardFrames(
            of: utterance, at: MonotonicTime(nanoseconds: .max / 2))
    }

    var counts: SpeechCounts { unsafe line.queue.pointer.pointee.counts }
}

@Suite("The queue of a far end in this process")
struct SpeechQueueTests {
    @Test(
        "chunks of any length are resampled as the whole is, and come out as long as they went in",
        arguments: [SoundRate.hertz16000, .hertz24000, .hertz48000])
    func chunks(rate: SoundRate) throws {
        let samples = SyntheticSpeech.samples(frames: 16_000, seed: 5, voice: .high, levelDecibels: -20)
        let whole = try QueueRig()
        #expect(whole.offer(samples, rate: rate, 1, isLast: true) == samples.count)
        let wanted = whole.pull(samples.count * rate.ratio + 480)
        // When the same comes in pieces of 1 to 700 samples
        var generator = SeededGenerator(seed: 1)
        let pieces = try QueueRig()
        var done = 0
        while done < samples.count {
            let count = min(1 + Int(generator.next() as UInt64 % 700), samples.count - done)
            #expect(pieces.offer(Array(samples[done..<done + count]), rate: rate, 1) == count)
            done += count
        }
        pieces.finish(1)
        let given = pieces.pull(samples.count * rate.ratio + 480)
        #expect(zip(wanted, given).allSatisfy { abs($0 - $1) < 1e-6 })
        #expect(given.suffix(480).allSatisfy { $0 == 0 })
        #expect(pieces.counts.playedFrames == samples.count * rate.ratio)
        #expect(pieces.counts.underruns == 0)
        // And each sample that was given lies where it was
        let back = stride(from: 0, to: samples.count * rate.ratio, by: rate.ratio).map { given[$0] }
        let error = zip(back, samples).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }
        #expect(error <= 0.01 * samples.reduce(0) { $0 + $1 * $1 })
    }

    @Test("16-bit samples are the same sound")
    func integers() throws {
        let rig = try QueueRig()
        let samples = (0..<480).map { Int16($0 * 60) }
        let taken = unsafe rig.line.feed.pointer.pointee.offer(
            SoundSamples(samples.span), rate: .hertz48000, utterance: 1, isLast: true)
        #expect(taken == 480)
        #expect(rig.pull(480) == samples.map { Float($0) / 32_768 })
    }

    @Test("runs dry with a fade to silence, counts it, and goes on with a fade when 40 ms are there")
    func dry() throws {
        let rig = try QueueRig()
        let loud = [Float](repeating: 0.5, count: 480)
        #expect(rig.offer(loud, 1) == 480)
        #expect(rig.pull(480) == loud)
        let gap = rig.pull(480)
        #expect(gap[0] > 0.49 && gap[239] < 0.01 && gap[240...].allSatisfy { $0 == 0 })
        #expect(zip(gap, gap.dropFirst()).allSatisfy { $0 >= $1 })
        #expect(rig.counts.underruns == 1 && rig.counts.underrunFrames == 480)
        // 30 ms are too little to go on
        for _ in 0..<3 { #expect(rig.offer(loud, 1) == 480) }
        #expect(rig.pull(480).allSatisfy { $0 == 0 })
        #expect(rig.offer(loud, 1) == 480)
        let back = rig.pull(480)
        #expect(back[0] < 0.01 && back[300...].allSatisfy { $0 == 0.5 })
        #expect(zip(back, back.dropFirst()).allSatisfy { $0 <= $1 })
        #expect(rig.counts.underruns == 1 && rig.counts.underrunFrames == 960)
    }

    @Test("the end of an utterance is played at once, however short, and the silence behind it is no underrun")
    func end() throws {
        let rig = try QueueRig()
        #expect(rig.offer([Float](repeating: 0.5, count: 100), 1, isLast: true) == 100)
        let played = rig.pull(480)
        #expect(played[..<100].allSatisfy { $0 == 0.5 } && played[100...].allSatisfy { $0 == 0 })
        _ = rig.pull(480)
        #expect(rig.counts.underruns == 0)
        // What comes of it later is dropped and counted
        #expect(rig.offer([0.5, 0.5], rate: .hertz16000, 1) == 2)
        #expect(rig.pull(480).allSatisfy { $0 == 0 })
        #expect(rig.line.cells.staleFrames == 6)
    }

    @Test("takes what there is room for, and no more than 128 utterances")
    func full() throws {
        let rig = try QueueRig(FarEndConfiguration(queue: .milliseconds(100)))
        #expect(rig.offer([Float](repeating: 0.1, count: 5_000), 1) == 4_800)
        #expect(rig.offer([0.1], 1) == 0)
        _ = rig.pull(480)
        #expect(rig.offer([Float](repeating: 0.1, count: 5_000), 1) == 480)
        rig.line.cells.interrupt()
        _ = rig.pull(480)
        var begun: UInt32 = 2
        while rig.offer([0.1], begun) == 1, begun < 1_000 { begun += 1 }
        #expect((100...130).contains(begun))
        // Each pull passes some of them
        for _ in 0..<40 { _ = rig.pull(480) }
        #expect(rig.offer([0.1], begun) == 1)
    }

    @Test(
        "an interruption fades within 5 ms, and nothing of what had begun is heard after it",
        arguments: cases(0..<20))
    func interruptions(seed: Int) throws {
        // Given utterances that are positive or negative by how many interruptions were before they began
        var generator = SeededGenerator(seed: UInt64(seed))
        func chance(_ count: Int) -> Int { Int(generator.next() as UInt64 % UInt64(count)) }
        let rig = try QueueRig(FarEndConfiguration(queue: .milliseconds(500)))
        var signs: [UInt32: Float] = [:]
        var sign: Float = 1
        var current: UInt32 = 1
        var framesSince = 0
        var heardFrames = 0
        var staleFrames = 0
        for _ in 0..<4_000 {
            switch chance(9) {
            case 0...3:
                // An old utterance now and then, as from a source that has not heard of the interruption
                let utterance = chance(4) == 0 ? UInt32(max(1, Int(current) - chance(3))) : current
                let level = signs[utterance, default: sign] * 0.5
                signs[utterance] = level * 2
                _ = rig.offer([Float](repeating: level, count: 1 + chance(3_000)), utterance, isLast: chance(10) == 0)
            case 4: if chance(3) == 0 { current += 1 }
            case 5:
                guard chance(8) == 0 else { continue }
                rig.line.cells.interrupt()
                if signs[current] != nil { current += 1 }
                sign = -sign
                framesSince = 0
            default:
                let output = rig.pull([24, 120, 240, 480][chance(4)])
                for (index, sample) in output.enumerated() where framesSince + index >= UnderrunFade.frames {
                    if sample != 0 { heardFrames += 1 }
                    if sample * sign < 0 { staleFrames += 1 }
                }
                framesSince += output.count
            }
        }
        #expect(staleFrames == 0)
        // A queue that plays nothing would pass too.
        #expect(heardFrames > 48_000)
        #expect(rig.counts.interruptions > 10)
    }

    @Test(
        "held, nothing is taken and nothing is heard behind a fade of 5 ms; released, it goes on where it was held, or so much before"
    )
    func held() throws {
        for rewind in [0, 1_000] {
            // Given an utterance of which 4,800 frames were heard
            let rig = try QueueRig()
            #expect(rig.offer(numbered(48_000), 1) == 48_000)
            #expect(rig.pull(4_800).last.map(number(of:)) == 4_800)
            // When it is held
            unsafe rig.line.queue.pointer.pointee.hold()
            let silence = rig.pull(9_600)
            // Then it fades out and is silent
            #expect(silence[240...].allSatisfy { $0 == 0 })
            #expect(rig.counts.underruns == 0)
            #expect(unsafe rig.line.queue.pointer.pointee.queuedFrames == 48_000 - 4_800)
            // When it is released, it goes on there, behind a fade
            unsafe rig.line.queue.pointer.pointee.release(rewind: rewind)
            let onward = rig.pull(4_800)
            #expect(onward[240...].map(number(of:)) == Array(4_801 - rewind + 240..<9_601 - rewind))
            // And what was repeated counts once
            #expect(rig.heard(of: 1) == 9_600 - rewind)
        }
    }

    @Test("held again while it repeats, it goes on before where it was held, and never before the utterance began")
    func heldTwice() throws {
        let rig = try QueueRig()
        #expect(rig.offer(numbered(48_000), 1) == 48_000)
        _ = rig.pull(2_000)
        for _ in 0..<5 {
            unsafe rig.line.queue.pointer.pointee.hold()
            _ = rig.pull(480)
            unsafe rig.line.queue.pointer.pointee.release(rewind: 1_000)
            _ = rig.pull(480)
        }
        unsafe rig.line.queue.pointer.pointee.hold()
        _ = rig.pull(480)
        unsafe rig.line.queue.pointer.pointee.release(rewind: 1_000)
        #expect(rig.pull(480)[240...].map(number(of:)) == Array(241...480))
    }

    @Test("interrupted while it is held, it is over, and the next one waits until it is released")
    func interruptedWhileHeld() throws {
        let rig = try QueueRig()
        #expect(rig.offer(numbered(4_800), 1, isLast: true) == 4_800)
        #expect(rig.offer(numbered(4_800, from: 10_001), 2, isLast: true) == 4_800)
        _ = rig.pull(480)
        unsafe rig.line.queue.pointer.pointee.hold()
        _ = rig.pull(480)
        rig.line.cells.interrupt(through: 1)
        #expect(rig.pull(480).allSatisfy { $0 == 0 })
        #expect(rig.counts.interruptions == 1)
        #expect(unsafe rig.line.queue.pointer.pointee.queuedFrames == 4_800)
        unsafe rig.line.queue.pointer.pointee.release(rewind: 1_000)
        #expect(rig.pull(480).map(number(of:)) == Array(10_001...10_480))
    }

    @Test("ducked, it is quieter by that after its attack, and itself again after its release", arguments: [240, 960])
    func ducked(attack: Int) throws {
        let rig = try QueueRig()
        #expect(rig.offer([Float](repeating: 0.5, count: 48_000), 1) == 48_000)
        _ = rig.mix(480)
        unsafe rig.line.queue.pointer.pointee.duck(by: 0.25, over: attack)
        let down = rig.mix(1_920)
        #expect(down[0] > 0.49 && abs(down[attack] - 0.125) < 1e-4 && down[attack / 2] > 0.2)
        #expect(zip(down, down.dropFirst()).allSatisfy { $0 >= $1 })
        unsafe rig.line.queue.pointer.pointee.duck(by: 1, over: 4_800)
        let up = rig.mix(5_760)
        #expect(up[0] < 0.13 && up[4_800] == 0.5)
    }
}
