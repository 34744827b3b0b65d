import TestCases
import Testing
import VoiceRealtime

@testable import VoiceDevices

/// In real time, where a loaded machine may add an xrun of its own: so what is asserted holds with more of them, too.
@Suite("Sound card in real time", .serialized, .enabled(if: VirtualCard.isThere, VirtualCard.absence))
struct CardLiveTests {
    /// What is heard must be what is played at the same time, from soon after the last event on. `slack`: how far off
    /// the times may be, frames; `offset`: the way through the air.
    private func expectAligned(_ run: CardRun, slack: Int = 2, offset: Int = 0) {
        let looks = run.settledLooks
        #expect(looks.count >= CardRun.enoughLooks, "\(run.log)")
        #expect(looks.allSatisfy { abs($0 + offset) <= slack }, "\(looks)\n\(run.log)")
    }

    /// How long a frame waits before the DAC must be what the fill target says, and no longer.
    private func expectLatency(_ run: CardRun, slackNanoseconds: Int64 = 300_000) throws {
        let conversion = run.formats.playback?.conversionDelay.nanoseconds ?? 0
        try #require(!run.settledLeads.isEmpty, "\(run.log)")
        for lead in run.settledLeads {
            let target = Int64(try #require(lead.fillTarget)) * 1_000_000_000 / 48_000
            #expect(lead.nanoseconds <= target + conversion + slackNanoseconds, "\(lead)\n\(run.log)")
        }
    }

    @Test("A stall of 120 ms is over when it is over: what is stale is skipped, the latency is what it was")
    func stall() throws {
        let run = try CardRun(VirtualCard(arguments: "STALL_AFTER_S=1,STALL_MS=120"))
        run.runUntilCalm(heard: 90_000)
        run.stop()
        let trimmed = run.log.events.compactMap { if case .trimmed(.capture, let frames) = $0 { frames } else { nil } }
        let counts = run.counts
        // Where the thread was so late that the device's buffer ran over, the stall was part of that.
        if counts.capture.xruns == 0 {
            #expect(trimmed.contains { $0 >= 4_800 }, "\(run.log)")
            #expect(counts.capture.trims >= 1)
        }
        #expect(run.log.contains(.xrun(.playback)) && run.log.contains(.recovered(.playback)))
        #expect(counts.capture.gapFrames >= 4_800, "\(run.log)")
        #expect(counts.playback.gapFrames >= 4_800)
        // No permitted buffer could have borne it, so that it is no reason for a longer one.
        if counts.playback.xruns == 1 { #expect(counts.playback.fillTargetFrames == 480) }
        try expectLatency(run)
        expectAligned(run)
    }

    @Test("A stall of half a second is counted as the silence and the lateness that it was, in both directions")
    func longStall() throws {
        let run = try CardRun(VirtualCard(arguments: "STALL_AFTER_S=1,STALL_MS=500"))
        run.runUntilCalm(heard: 90_000)
        run.stop()
        #expect(run.counts.capture.gapFrames >= 21_600)
        #expect(run.counts.playback.gapFrames >= 21_600, "\(run.log)")
        // A thread that came too late just before was started anew in the middle of it.
        for counts in [run.counts.capture, run.counts.playback] where counts.xruns == 1 {
            #expect(counts.worstLatenessNanoseconds >= 450_000_000, "\(run.log)")
        }
        expectAligned(run)
    }

    @Test(
        "After an xrun the times are right from the first frame on, and a period more is queued",
        arguments: cases(["RATE=48000", "RATE=16000"]))
    func xrun(rate: String) throws {
        let run = try CardRun(VirtualCard(arguments: "\(rate),XRUN_AFTER_S=1"))
        run.runUntilCalm(heard: 90_000)
        run.stop()
        for direction in [DeviceDirection.capture, .playback] {
            #expect(run.log.contains(.xrun(direction)) && run.log.contains(.recovered(direction)), "\(run.log)")
        }
        // Of an xrun that is noticed later than any permitted buffer bears, 35 ms, nothing is learnt.
        if run.counts.playback.worstLatenessNanoseconds < 20_000_000 {
            #expect(run.log.contains(.fillTargetChanged(frames: 720)), "\(run.log)")
            #expect(run.counts.playback.fillTargetChanges >= 1)
        }
        #expect(run.counts.playback.gapFrames > 0 && run.counts.capture.gapFrames > 0)
        try expectLatency(run)
        expectAligned(run)
        // A gap is there as the silence that it was, where it is not too long, so that the times go on without a jump.
        // On a machine so loaded that the test itself has not kept up, or a thread of the device, there are others.
        let (capture, playback) = (run.counts.capture, run.counts.playback)
        guard capture.overflowFrames == 0, playback.overflowFrames == 0, capture.gapFrames < 960,
            playback.gapFrames < 12_000
        else { return }
        for track in [run.played, run.heard] {
            let jumps = zip(track.marks, track.marks.dropFirst()).map { before, after in
                after.time.nanoseconds
                    - before.time.advanced(byFrames: after.frame - before.frame, sampleRate: 48_000).nanoseconds
            }
            #expect(jumps.allSatisfy { abs($0) < 700_000 }, "\(jumps.filter { abs($0) >= 700_000 })\n\(run.log)")
        }
    }

    @Test("A device that stands still, and says that it runs, is stopped and started anew")
    func standstill() throws {
        // Three seconds, longer than any device takes for a period
        let run = try CardRun(VirtualCard(arguments: "RATE=16000,JUMP_AFTER_S=1,JUMP_FRAMES=-48000"))
        run.runUntilCalm(heard: 90_000)
        run.stop()
        for direction in [DeviceDirection.capture, .playback] {
            #expect(run.log.contains(.recovered(direction)), "\(run.log)")
        }
        #expect(!run.log.events.contains { if case .failed = $0 { true } else { false } }, "\(run.log)")
        #expect(run.counts.playback.gapFrames >= 48_000 && run.counts.capture.gapFrames >= 48_000)
        expectAligned(run)
    }

    @Test("A device that begins only some time after each start is waited for")
    func lateStart() throws {
        let card = VirtualCard(arguments: "START_DELAY_MS=1500")
        defer { card.remove() }
        let session = try Session()
        let fixture = try PortFixture(session)
        let device = ALSADevice(ALSADeviceConfiguration(card.pcm))
        let log = EventLog()
        _ = try device.start(capture: fixture.capture, playback: fixture.playback, events: log.note)
        let limit = MonotonicTime.now().nanoseconds + 60_000_000_000
        while session.counters.counts.capture.frames < 4_800 || session.counters.counts.playback.frames < 4_800,
            MonotonicTime.now().nanoseconds < limit
        { session.wake.wait(timeout: .milliseconds(10)) }
        device.stop()
        #expect(session.counters.counts.capture.frames >= 4_800, "\(log.all)")
        #expect(session.counters.counts.playback.frames >= 4_800, "\(log.all)")
    }

    @Test("A device that takes more at once than is queued gets as much, however late it begins")
    func longCycles() throws {
        // As PipeWire's plugin in a virtual machine: 1,024 frames at a time, some time after each start.
        let card = VirtualCard(arguments: "START_DELAY_MS=200,GRANULE_FRAMES=1024")
        defer { card.remove() }
        let session = try Session()
        let fixture = try PortFixture(session)
        let device = ALSADevice(ALSADeviceConfiguration(capture: nil, playback: card.pcm))
        let log = EventLog()
        _ = try device.start(capture: fixture.capture, playback: fixture.playback, events: log.note)
        let limit = MonotonicTime.now().nanoseconds + 60_000_000_000
        while session.counters.counts.playback.frames < 48_000, MonotonicTime.now().nanoseconds < limit {
            session.wake.wait(timeout: .milliseconds(10))
        }
        device.stop()
        let counts = session.counters.counts.playback
        #expect(counts.frames >= 48_000, "\(log.all)")
        #expect(counts.fillTargetFrames.map { $0 >= 1_200 } == true, "\(log.all)")
    }

    @Test("A jump of the device's position is followed within a buffer", arguments: cases([300, -300, 2_000, -2_000]))
    func jump(frames: Int) throws {
        let run = try CardRun(VirtualCard(arguments: "JUMP_AFTER_S=1,JUMP_FRAMES=\(frames)"))
        run.runUntilCalm(heard: 90_000)
        run.stop()
        try expectLatency(run)
        expectAligned(run)
        // The rate has not heard of it: 300 frames in three seconds would be 2,000 ppm.
        #expect(abs(run.counts.capture.driftPPM ?? 0) < 50)
    }

    @Test("Each clock's rate is known, with how well", arguments: cases([300.0, -300]))
    func drift(ppm: Double) throws {
        let card = VirtualCard(arguments: "PPM_CAPTURE=\(ppm),PPM_PLAYBACK=\(-ppm),DELAY_FRAMES=100")
        let run = try CardRun(card)
        run.runUntilCalm(heard: 190_000) { counts in
            [counts.capture, counts.playback].allSatisfy {
                $0.clockAgeSeconds > 1 && $0.driftUncertaintyPPM.map { $0 < 75 } == true
            }
        }
        run.stop()
        for (counts, expected) in [(run.counts.capture, ppm), (run.counts.playback, -ppm)] {
            let uncertainty = try #require(counts.driftUncertaintyPPM)
            let drift = try #require(counts.driftPPM)
            // Four seconds tell this much; an hour's worth of it is in DeviceClockTests.
            #expect(abs(drift - expected) < 75 && uncertainty < 75)
            #expect(counts.clockAgeSeconds > 1)
        }
        expectAligned(run, slack: 10, offset: 100)
    }

    @Test(
        "Wake-ups up to 3 ms late change neither latency nor alignment",
        arguments: cases(["JITTER_US=3000,GRANULE_FRAMES=48", "JITTER_US=3000"]))
    func jitter(arguments: String) throws {
        let run = try CardRun(VirtualCard(arguments: arguments))
        run.runUntilCalm(heard: 90_000)
        run.stop()
        // That they cost no xrun is shown in virtual time.
        // A coarse position is up to a millisecond behind, and the times with it.
        try expectLatency(run, slackNanoseconds: 1_300_000)
        expectAligned(run, slack: 48)
    }

    @Test(
        "Other rates, formats and channels are converted, and the times account for it",
        arguments: cases([
            "RATE=44100", "RATE=16000,FORMATS=S16_LE", "RATE=96000,CHANNELS=2,FORMATS=S32_LE",
            "FORMATS=S16_LE,CHANNELS=2",
        ]))
    func conversion(arguments: String) throws {
        let run = try CardRun(VirtualCard(arguments: arguments))
        run.runUntilCalm(heard: 90_000)
        run.stop()
        let active = try #require(run.formats.capture?.active)
        #expect(arguments.contains("RATE") == (active.sampleRate != 48_000))
        #expect(arguments.contains("CHANNELS=2") == (active.channels == 2))
        try expectLatency(run)
        expectAligned(run)
    }
}
