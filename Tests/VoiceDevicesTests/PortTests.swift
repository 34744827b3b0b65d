import TestCases
import Testing
import VoiceDevices
import VoiceRealtime

@Suite("Ports")
struct PortTests {
    @Test("Given a full capture ring, the newest frames are dropped and counted")
    func captureOverflow() throws {
        let session = try Session()
        var fixture = try PortFixture(session, capacity: 1_024)
        let capacity = fixture.ends.captured.capacity
        let frames = (0..<capacity + 100).map { Float($0) }
        let taken = fixture.capture.deliver(frames.span, adcTime: MonotonicTime(nanoseconds: 5))
        #expect(taken == capacity)
        #expect(session.counters.counts.capture.overflowFrames == 100)
        #expect(session.counters.counts.capture.frames == capacity + 100)
        #expect(fixture.ends.captured.nextTime() == MonotonicTime(nanoseconds: 5))
        #expect(fixture.ends.takeCaptured() == Array(frames.prefix(capacity)))
    }

    @Test("Each delivery and each fetch wakes the media thread")
    func waking() throws {
        let session = try Session()
        var fixture = try PortFixture(session)
        #expect(!session.wake.wait(timeout: .zero))
        fixture.capture.deliver([0.5].span, adcTime: MonotonicTime(nanoseconds: 0))
        #expect(session.wake.wait(timeout: .zero))
        fixture.ends.play([0])
        _ = fixture.playback.render(1)
        #expect(session.wake.wait(timeout: .zero))
    }

    @Test("The reference is what was handed out, bit for bit, gain and gaps included", arguments: [1 as UInt64, 2, 3])
    func referenceEqualsOutput(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        let session = try Session()
        var fixture = try PortFixture(session)
        var handedOut: [Float] = []
        for turn in 0..<200 {
            fixture.ends.play(random.noise(Int.random(in: 0...400, using: &random), amplitude: 1.2))
            if turn % 20 == 0 { session.control.gain = Float.random(in: 0...1.5, using: &random) }
            handedOut += fixture.playback.render(Int.random(in: 1...300, using: &random))
            if handedOut.count > 20_000 { break }
        }
        let reference = fixture.ends.takeReference()
        #expect(reference.map(\.bitPattern) == handedOut.map(\.bitPattern), "seed \(seed)")
        #expect(handedOut.allSatisfy { abs($0) <= 1 })
        #expect(session.counters.counts.playback.frames == handedOut.count)
    }

    @Test("The reference carries the DAC's time")
    func referenceTime() throws {
        let session = try Session()
        var fixture = try PortFixture(session)
        fixture.ends.play([0.1, 0.2])
        _ = fixture.playback.render(2, dacTime: MonotonicTime(nanoseconds: 77))
        #expect(fixture.ends.reference.nextTime() == MonotonicTime(nanoseconds: 77))
    }

    @Test("A full reference ring drops the newest frames, and playback goes on")
    func referenceOverflow() throws {
        let session = try Session()
        var fixture = try PortFixture(session, capacity: 1_024)
        let capacity = fixture.ends.reference.capacity
        for _ in 0..<4 { _ = fixture.playback.render(capacity / 2) }
        #expect(session.counters.counts.playback.overflowFrames == capacity)
        #expect(session.counters.counts.playback.frames == 2 * capacity)
    }

    @Test("Silence before the first frame is no underrun, and the first frames are not altered")
    func beforeTheStart() throws {
        let session = try Session()
        var fixture = try PortFixture(session)
        #expect(fixture.playback.render(480) == Array(repeating: 0, count: 480))
        #expect(session.counters.counts.playback.underrunFrames == 0)
        fixture.ends.play([0.9, 0.8, 0.7])
        #expect(fixture.playback.render(3) == [0.9, 0.8, 0.7])
    }

    /// The largest step from one sample to the next.
    private func steepest(_ samples: [Float]) -> Float {
        zip(samples, samples.dropFirst()).map { abs($1 - $0) }.max() ?? 0
    }

    @Test(
        "An underrun fades out without a step, is silent, and fades in again", arguments: [1, 32, 239, 240, 241, 480])
    func underrun(period: Int) throws {
        let session = try Session()
        var fixture = try PortFixture(session)
        // A slow wave whose own steps are small, cut off near its peak.
        let wave = (0..<2_400).map { (frame: Int) -> Float in 0.8 * (1 - abs(Float(frame % 800) - 400) / 200) }
        let cut = 1_200 + 390
        fixture.ends.play(Array(wave.prefix(cut)))
        var heard: [Float] = []
        while heard.count < cut + 1_000 { heard += fixture.playback.render(period) }
        let gap = heard.count - cut
        #expect(session.counters.counts.playback.underrunFrames == gap)
        #expect(Array(heard.prefix(cut)) == Array(wave.prefix(cut)), "no real frame is altered")
        #expect(heard[(cut + 240)...].allSatisfy { $0 == 0 })
        fixture.ends.play(wave)
        heard += fixture.playback.render(2_400)
        // The wave moves by 0.004 a frame and the fade by up to 0.0066 of the amplitude.
        #expect(steepest(heard) < 0.02)
        #expect(Array(heard.suffix(2_400 - 240)) == Array(wave.suffix(2_400 - 240)))
    }

    @Test("Frames that come back while the fade is still sounding cross it without a step")
    func shortGap() throws {
        let session = try Session()
        var fixture = try PortFixture(session)
        let steady = [Float](repeating: 0.5, count: 600)
        fixture.ends.play(steady)
        var heard = fixture.playback.render(610)
        fixture.ends.play(steady)
        heard += fixture.playback.render(600)
        #expect(steepest(heard) < 0.01)
        #expect(heard.allSatisfy { $0 > 0.4 && $0 < 0.6 }, "of a constant, fade out and fade in add up to it")
        #expect(session.counters.counts.playback.underrunFrames == 10)
    }

    @Test("A change of gain is a ramp, and ends on the gain itself")
    func gainRamp() throws {
        let session = try Session()
        var fixture = try PortFixture(session)
        fixture.ends.play([Float](repeating: 0.5, count: 2_000))
        session.control.gain = 0
        let down = fixture.playback.render(480)
        #expect(steepest([0.5] + down) <= 0.5 / 480 * 1.01)
        #expect(down.last == 0)
        session.control.gain = 1.5
        let up = fixture.playback.render(1_000)
        #expect(steepest([0] + up) <= 0.5 / 480 * 1.01)
        #expect(up.last == 0.75)
        #expect(up[720] == 0.75)
    }

    @Test("What is beyond full scale is limited and counted; what is no number becomes silence")
    func limits() throws {
        let session = try Session()
        var fixture = try PortFixture(session)
        fixture.ends.play([2, -3, .nan, .infinity, -.infinity, 1, -1, 0.5])
        #expect(fixture.playback.render(8) == [1, -1, 0, 1, -1, 1, -1, 0.5])
        #expect(session.counters.counts.playback.clippedFrames == 5)
        session.control.gain = .nan
        #expect(session.control.gain == 1)
        session.control.gain = -4
        #expect(session.control.gain == 0)
        session.control.gain = 1_000
        #expect(session.control.gain == PlaybackControl.highestGain)
    }

    @Test(
        "A gap of the playback is counted, and is silence in the reference at the time at which it was",
        arguments: [1, 487, 4_000])
    func playbackGap(frames: Int) throws {
        let session = try Session()
        var fixture = try PortFixture(session)
        let start = MonotonicTime(nanoseconds: 5_000_000_000)
        fixture.ends.play([Float](repeating: 0.5, count: 480))
        _ = fixture.playback.render(240, dacTime: start)
        fixture.playback.recordGap(frames: frames, dacTime: start.advanced(byFrames: 240, sampleRate: 48_000))
        let after = start.advanced(byFrames: 240 + frames, sampleRate: 48_000)
        _ = fixture.playback.render(240, dacTime: after)
        #expect(fixture.ends.reference.nextTime() == start)
        let reference = fixture.ends.takeReference()
        #expect(reference[240..<240 + frames].allSatisfy { $0 == 0 })
        #expect(reference.count == 480 + frames && reference[240 + frames] == 0.5)
        #expect(session.counters.counts.playback.gapFrames == frames)
        #expect(session.counters.counts.playback.filledGapFrames == frames)
        #expect(session.counters.counts.playback.frames == 480)
    }

    @Test("A gap that the reference ring cannot take is left out whole, for the times to tell")
    func longGap() throws {
        let session = try Session()
        var fixture = try PortFixture(session, capacity: 1_024)
        let start = MonotonicTime(nanoseconds: 0)
        fixture.ends.play([Float](repeating: 0.5, count: 240))
        _ = fixture.playback.render(240, dacTime: start)
        fixture.playback.recordGap(frames: 1_000, dacTime: start)
        #expect(fixture.ends.takeReference().count == 240)
        #expect(session.counters.counts.playback.gapFrames == 1_000)
        #expect(session.counters.counts.playback.filledGapFrames == 0)
    }

    @Test(
        "A gap of the playback is counted however long it was; one of more than 250 ms is not in the reference",
        arguments: [12_000, 12_001])
    func longestGap(frames: Int) throws {
        let session = try Session()
        var fixture = try PortFixture(session)
        fixture.playback.recordGap(frames: frames, dacTime: MonotonicTime(nanoseconds: 0))
        #expect(fixture.ends.takeReference().count == (frames == 12_000 ? 12_000 : 0))
        #expect(session.counters.counts.playback.filledGapFrames == (frames == 12_000 ? 12_000 : 0))
        #expect(session.counters.counts.playback.gapFrames == frames)
    }

    @Test("What is known of a clock, of gaps and of the queue shows in the counters; what is not known is nil")
    func clockCounts() throws {
        let session = try Session()
        let fixture = try PortFixture(session)
        #expect(session.counters.counts.capture.driftUncertaintyPPM == nil)
        #expect(session.counters.counts.playback.fillTargetFrames == nil)
        fixture.capture.recordClock(uncertaintyPPM: .infinity, ageSeconds: 0, jitterNanoseconds: 0)
        #expect(session.counters.counts.capture.driftUncertaintyPPM == nil)
        fixture.capture.recordClock(uncertaintyPPM: 1.5, ageSeconds: 30, jitterNanoseconds: 40_000)
        fixture.capture.recordGap(frames: 480, trimmed: true)
        fixture.capture.recordGap(frames: 20)
        for frames in [480, 480, 720, 480] { fixture.playback.recordFillTarget(frames: frames) }
        let counts = session.counters.counts
        #expect(counts.capture.driftUncertaintyPPM == 1.5 && counts.capture.clockAgeSeconds == 30)
        #expect(counts.capture.clockJitterNanoseconds == 40_000)
        #expect(counts.capture.gapFrames == 500 && counts.capture.trims == 1)
        #expect(counts.playback.fillTargetFrames == 480 && counts.playback.fillTargetChanges == 2)
    }
}
