import Testing
import VoiceRealtime

@testable import VoiceDevices

#if canImport(Glibc)
    import Glibc
#endif

/// In the card's own time, which stands still while anybody computes: the same in each run, however loaded the machine.
@Suite("Sound card in virtual time", .serialized, .enabled(if: VirtualCard.isThere, VirtualCard.absence))
struct VirtualTimeCardTests {
    /// How many minutes the longest test takes of the card's time; of ours it takes a hundredth.
    static let minutes = unsafe getenv("DUPLEXVOICE_CARD_MINUTES").flatMap { unsafe Int(String(cString: $0)) } ?? 3

    private func configuration(_ card: VirtualCard, period: Int) -> ALSADeviceConfiguration {
        var configuration = ALSADeviceConfiguration(card.pcm)
        configuration.periodFrames = period
        configuration.holdsToMonotonicClock = false
        return configuration
    }

    @Test("The way of a duplex loop is its periods, to the frame", arguments: [120, 240, 480])
    func duplexWay(period: Int) throws {
        let card = VirtualCard(arguments: "VIRTUAL=1")
        defer { card.remove() }
        var loop = try ALSADuplexLoop(configuration(card, period: period))
        let way = 2 * period
        #expect(loop.wayFrames == way)
        var noise = Seeded(state: 5)
        var (heard, played): ([Float], [Float]) = ([], [])
        for _ in 0..<300 {
            let turn = try loop.turn { input, output, _ in
                for index in input.indices { heard.append(input[index]) }
                for index in output.indices {
                    output[index] = Float.random(in: -0.5...0.5, using: &noise)
                    played.append(output[index])
                }
            }
            #expect(turn == .moved)
        }
        #expect(heard.prefix(way).allSatisfy { $0 == 0 })
        #expect(heard.dropFirst(way).elementsEqual(played.dropLast(way)))
        #expect(loop.restarts == 0 && loop.slips == 0)
    }

    @Test(
        "Clocks that run apart slip by a period at a time, and the way stays within a period",
        arguments: [3_000, -3_000])
    func duplexDrift(ppm: Int) throws {
        let card = VirtualCard(arguments: "VIRTUAL=1,PPM_CAPTURE=\(ppm)")
        defer { card.remove() }
        var loop = try ALSADuplexLoop(configuration(card, period: 240))
        var slipped = 0
        for _ in 0..<2_000 where try loop.turn({ _, output, _ in output[0] = 0.5 }) == .slipped { slipped += 1 }
        // 480,000 frames, of which three in a thousand are too many or too few: six periods.
        #expect((4...8).contains(slipped))
        #expect(loop.slips == slipped && loop.restarts == 0)
    }

    @Test(
        "A good device runs for minutes without an xrun, and moves exactly one period on each wake-up",
        arguments: ["INTERRUPTS=0", "GRANULE_FRAMES=0", "JITTER_US=3000"])
    func goodDevice(arguments: String) throws {
        let card = VirtualCard(arguments: "VIRTUAL=1,\(arguments)")
        defer { card.remove() }
        let session = try Session()
        let fixture = try PortFixture(session)
        let device = ALSADevice(configuration(card, period: 480))
        let log = EventLog()
        let frames = Self.minutes * 60 * 48_000
        _ = try device.start(capture: fixture.capture, playback: fixture.playback, events: log.note)
        let limit = MonotonicTime.now().nanoseconds + Int64(Self.minutes) * 60_000_000_000
        while session.counters.counts.capture.frames < frames, MonotonicTime.now().nanoseconds < limit {
            session.wake.wait(timeout: .milliseconds(10))
        }
        device.stop()
        #expect(log.all.filter { if case .schedulingRefused = $0 { false } else { true } } == [])
        for counts in [session.counters.counts.capture, session.counters.counts.playback] {
            #expect(counts.frames >= frames - 480)
            #expect(counts.frames == counts.wakeUps * 480)
            #expect(counts.xruns == 0 && counts.restarts == 0 && counts.gapFrames == 0)
        }
    }

    @Test("After quiet the period that an xrun has added is taken away again, and nothing is cut")
    func shrinking() throws {
        let card = VirtualCard(arguments: "VIRTUAL=1,XRUN_AFTER_S=1")
        defer { card.remove() }
        let session = try Session()
        let fixture = try PortFixture(session)
        var configuration = configuration(card, period: 240)
        configuration.latencyTuningQuiet = .seconds(1)
        let device = ALSADevice(configuration)
        let log = EventLog()
        _ = try device.start(capture: fixture.capture, playback: fixture.playback, events: log.note)
        let limit = MonotonicTime.now().nanoseconds + 30_000_000_000
        while !log.all.contains(.fillTargetChanged(frames: 480)), MonotonicTime.now().nanoseconds < limit {
            session.wake.wait(timeout: .milliseconds(10))
        }
        device.stop()
        let changes = log.all.compactMap { if case .fillTargetChanged(let frames) = $0 { frames } else { nil } }
        #expect(changes == [720, 480])
        let counts = session.counters.counts.playback
        #expect(counts.fillTargetFrames == 480 && counts.fillTargetChanges == 2)
        // The one that was asked for; none of the shrinking.
        #expect(counts.xruns == 1 && counts.restarts == 1)
        #expect(counts.frames == counts.wakeUps * 240)
    }

    @Test("A card that is gone is told of in both directions, and can be started again when it is back")
    func unplug() throws {
        let card = VirtualCard(arguments: "VIRTUAL=1,UNPLUG_AFTER_S=1,REPLUG_AFTER_S=0.05")
        defer { card.remove() }
        for _ in 0..<3 {
            let session = try Session()
            let fixture = try PortFixture(session)
            let device = ALSADevice(configuration(card, period: 480))
            let log = EventLog()
            let limit = MonotonicTime.now().nanoseconds + 20_000_000_000
            while MonotonicTime.now().nanoseconds < limit {
                let trial = try PortFixture(session)
                do {
                    _ = try device.start(capture: trial.capture, playback: trial.playback, events: log.note)
                    break
                } catch {
                    // Not back yet.
                    guard case .notFound = error else { throw error }
                    session.wake.wait(timeout: .milliseconds(20))
                }
            }
            _ = fixture
            while log.all.count(where: { if case .disconnected = $0 { true } else { false } }) < 2,
                MonotonicTime.now().nanoseconds < limit
            { session.wake.wait(timeout: .milliseconds(10)) }
            device.stop()
            #expect(log.all.contains(.disconnected(.capture)) && log.all.contains(.disconnected(.playback)))
            #expect(session.counters.counts.capture.frames >= 47_520)
        }
    }

    @Test("A card that somebody has open is busy")
    func busy() throws {
        let card = VirtualCard(arguments: "VIRTUAL=1")
        defer { card.remove() }
        let holder = try ALSADuplexLoop(configuration(card, period: 240))
        var refusal: DeviceError?
        do { _ = try ALSADuplexLoop(configuration(card, period: 240)) } catch { refusal = error }
        #expect(refusal == .busy(name: card.pcm, holders: []))
        #expect(holder.restarts == 0)
    }
}

/// In real time, where a loaded machine may add an xrun of its own: so what is asserted holds with more of them, too.
@Suite("Sound card in real time", .serialized, .enabled(if: VirtualCard.isThere, VirtualCard.absence))
struct RealTimeCardTests {
    /// What is heard must be what is played at the same time, from soon after the last event on. `slack`: how far off the times may be,
    /// frames; `offset`: the way through the air.
    private func expectAligned(_ run: CardRun, slack: Int = 2, offset: Int = 0) {
        // A quarter of a second after the mishap that the test has asked for, and after any other.
        let settled = max((run.log.lines.last?.captured ?? 0) + 4_800, 60_000)
        let looks = run.misalignments().filter { $0.frame >= settled }.compactMap(\.error)
        #expect(looks.count >= 5, "\(run.log)")
        #expect(looks.allSatisfy { abs($0 + offset) <= slack }, "\(looks)\n\(run.log)")
    }

    /// How long a frame waits before the DAC must be what the fill target says, and no longer.
    private func expectLatency(_ run: CardRun, slackNanoseconds: Int64 = 300_000) throws {
        let target = try #require(run.counts.playback.fillTargetFrames)
        let longest = try #require(run.leads.suffix(100).max())
        let conversion = run.formats.playback?.conversionDelay.wholeNanoseconds ?? 0
        #expect(longest <= Int64(target) * 1_000_000_000 / 48_000 + conversion + slackNanoseconds, "\(run.log)")
    }

    @Test("A stall of 120 ms is over when it is over: what is stale is skipped, the latency is what it was")
    func stall() throws {
        let run = try CardRun(VirtualCard(arguments: "STALL_AFTER_S=1,STALL_MS=120"))
        run.runUntilCalm(heard: 90_000)
        run.stop()
        let trimmed = run.log.events.compactMap { if case .trimmed(.capture, let frames) = $0 { frames } else { nil } }
        #expect(trimmed.contains { $0 >= 4_800 }, "\(run.log)")
        #expect(run.log.contains(.xrun(.playback)) && run.log.contains(.recovered(.playback)))
        let counts = run.counts
        #expect(counts.capture.trims >= 1 && counts.capture.gapFrames >= 4_800)
        #expect(counts.playback.gapFrames >= 4_800)
        // No permitted buffer could have borne it, so that it is no reason for a longer one.
        if counts.playback.xruns == 1 { #expect(counts.playback.fillTargetFrames == 480) }
        try expectLatency(run)
        expectAligned(run)
    }

    @Test("After an xrun the times are right from the first frame on, and a period more is queued")
    func xrun() throws {
        let run = try CardRun(VirtualCard(arguments: "XRUN_AFTER_S=1"))
        run.runUntilCalm(heard: 90_000)
        run.stop()
        for direction in [DeviceDirection.capture, .playback] {
            #expect(run.log.contains(.xrun(direction)) && run.log.contains(.recovered(direction)), "\(run.log)")
        }
        #expect(run.log.contains(.fillTargetChanged(frames: 720)), "\(run.log)")
        #expect(run.counts.playback.fillTargetChanges >= 1)
        #expect(run.counts.playback.gapFrames > 0 && run.counts.capture.gapFrames > 0)
        try expectLatency(run)
        expectAligned(run)
        // The gap is in the reference as the silence that it was, so that its times go on without a jump. On a machine so loaded that the
        // test itself has not kept up, there are others.
        guard run.counts.playback.overflowFrames == 0 else { return }
        let jumps = zip(run.played.marks, run.played.marks.dropFirst()).map { before, after in
            after.time.nanoseconds
                - before.time.advanced(byFrames: after.frame - before.frame, sampleRate: 48_000).nanoseconds
        }
        #expect(jumps.allSatisfy { abs($0) < 1_000_000 }, "\(jumps.filter { abs($0) >= 1_000_000 })\n\(run.log)")
    }

    @Test("A jump of the device's position is followed within a buffer", arguments: [300, -300, 2_000, -2_000])
    func jump(frames: Int) throws {
        let run = try CardRun(VirtualCard(arguments: "JUMP_AFTER_S=1,JUMP_FRAMES=\(frames)"))
        run.runUntilCalm(heard: 90_000)
        run.stop()
        try expectLatency(run)
        expectAligned(run)
        // The rate has not heard of it: 300 frames in three seconds would be 2,000 ppm.
        #expect(abs(run.counts.capture.driftPPM ?? 0) < 50)
    }

    @Test("Each clock's rate is known, with how well", arguments: [300.0, -300])
    func drift(ppm: Double) throws {
        let card = VirtualCard(arguments: "PPM_CAPTURE=\(ppm),PPM_PLAYBACK=\(-ppm),DELAY_FRAMES=100")
        let run = try CardRun(card)
        run.runUntilCalm(heard: 190_000)
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

    @Test("Wake-ups up to 3 ms late cost nothing", arguments: ["JITTER_US=3000", "JITTER_US=3000,GRANULE_FRAMES=48"])
    func jitter(arguments: String) throws {
        let run = try CardRun(VirtualCard(arguments: arguments))
        run.runUntilCalm(heard: 90_000)
        run.stop()
        #expect(run.counts.capture.xruns == 0)
        // A coarse position is up to a millisecond behind, and the times with it.
        try expectLatency(run, slackNanoseconds: 1_300_000)
        expectAligned(run, slack: 48)
    }

    @Test(
        "Other rates, formats and channels are converted, and the times account for it",
        arguments: [
            "RATE=44100", "RATE=16000,FORMATS=S16_LE", "RATE=96000,CHANNELS=2,FORMATS=S32_LE",
            "FORMATS=S16_LE,CHANNELS=2",
        ])
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
