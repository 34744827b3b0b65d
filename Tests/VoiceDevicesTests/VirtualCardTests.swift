import TestCases
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

    @Test(
        "A good device runs for minutes without an xrun, and moves exactly one period on each wake-up",
        arguments: cases(["INTERRUPTS=0", "GRANULE_FRAMES=0", "JITTER_US=3000"]))
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

    @Test("What stands in the way of the parameters is told as what it is, and not as parameters that are not offered")
    func refusedParameters() throws {
        for (code, kind) in [(EBUSY, "busy"), (ENODEV, "notFound"), (EINVAL, "unsupported")] {
            let card = VirtualCard(arguments: "VIRTUAL=1,SETUP_ERROR=\(code)")
            defer { card.remove() }
            let fixture = try PortFixture(try Session())
            var refusal: DeviceError?
            do {
                _ = try ALSADevice(configuration(card, period: 240))
                    .start(capture: fixture.capture, playback: fixture.playback) { _ in }
            } catch { refusal = error }
            let told: String? =
                switch refusal {
                case .busy?: "busy"
                case .notFound?: "notFound"
                case .unsupported?: "unsupported"
                default: nil
                }
            #expect(told == kind, "\(String(describing: refusal))")
        }
    }

    @Test("A card whose bus has no room for wide samples is used with narrow ones; where it has none, the bus is named")
    func narrowBus() throws {
        for (formats, isUsable) in [("S16_LE/S32_LE/FLOAT_LE", true), ("S32_LE", false)] {
            let card = VirtualCard(
                arguments: "VIRTUAL=1,SETUP_ERROR=\(ENOSPC),SETUP_ERROR_BITS=32,FORMATS=\(formats)")
            defer { card.remove() }
            let fixture = try PortFixture(try Session())
            let device = ALSADevice(configuration(card, period: 240))
            do throws(DeviceError) {
                let active = try device.start(capture: fixture.capture, playback: fixture.playback) { _ in }
                device.stop()
                #expect(isUsable)
                #expect(active.capture?.active.sampleFormat == .int16)
                #expect(active.playback?.active.sampleFormat == .int16)
            } catch {
                #expect(!isUsable && error.description.contains("USB"), "\(error)")
            }
        }
    }

    @Test("A card is opened with as many channels as the chosen one needs, and refused where it has fewer")
    func chosenChannel() throws {
        for (channels, asked, active) in [("1/2", 1, 2), ("1/2", 2, nil), ("1", 0, 1)] as [(String, Int, Int?)] {
            let card = VirtualCard(arguments: "VIRTUAL=1,CHANNELS=\(channels)")
            defer { card.remove() }
            let fixture = try PortFixture(try Session())
            var configuration = configuration(card, period: 240)
            configuration.captureChannels = .channel(asked)
            let device = ALSADevice(configuration)
            do throws(DeviceError) {
                let formats = try device.start(capture: fixture.capture, playback: fixture.playback) { _ in }
                device.stop()
                #expect(formats.capture?.active.channels == active)
            } catch {
                #expect(active == nil && error == .unsupported(asked: "3 channels", offers: "2"))
            }
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
        // The wake-up that found it counts as well, and moved nothing.
        #expect(counts.frames == (counts.wakeUps - counts.xruns) * 240)
    }

    @Test("The period that an xrun has kept from being taken is heard when the device goes on")
    func pendingPeriod() throws {
        let card = VirtualCard(arguments: "VIRTUAL=1,XRUN_AT_WRITE=50")
        defer { card.remove() }
        let session = try Session()
        var fixture = try PortFixture(session)
        // Frames that tell their own numbers
        let (numbers, scale) = (1_000, Float(1_024))
        fixture.ends.play((0..<60_000).map { Float($0 % numbers + 1) / scale })
        let device = ALSADevice(configuration(card, period: 240))
        let log = EventLog()
        _ = try device.start(capture: fixture.capture, playback: fixture.playback, events: log.note)
        let limit = MonotonicTime.now().nanoseconds + 30_000_000_000
        while session.counters.counts.capture.frames < 24_000, MonotonicTime.now().nanoseconds < limit {
            session.wake.wait(timeout: .milliseconds(10))
        }
        device.stop()
        #expect(log.all.contains(.xrun(.playback)) && log.all.contains(.recovered(.playback)))
        let heard = fixture.ends.takeCaptured().prefix(24_000).filter { $0 != 0 }.map { Int($0 * scale) - 1 }
        #expect(heard.count > 12_000 && heard.first == 0)
        let lost = zip(heard, heard.dropFirst()).map { ($1 - $0 - 1 + numbers) % numbers }.filter { $0 != 0 }
        // What the card had queued is gone with it: two periods but the one that had been played.
        #expect(lost == [240])
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
        let session = try Session()
        let held = try PortFixture(session)
        let wanted = try PortFixture(session)
        let log = EventLog()
        let holder = ALSADevice(configuration(card, period: 240))
        _ = try holder.start(capture: held.capture, playback: held.playback, events: log.note)
        defer { holder.stop() }
        var refusal: DeviceError?
        do {
            let device = ALSADevice(configuration(card, period: 240))
            _ = try device.start(capture: wanted.capture, playback: wanted.playback, events: log.note)
        } catch { refusal = error }
        #expect(refusal == .busy(name: card.pcm, holders: []))
        let before = session.counters.counts.capture.frames
        let limit = MonotonicTime.now().nanoseconds + 20_000_000_000
        while session.counters.counts.capture.frames < before + 4_800, MonotonicTime.now().nanoseconds < limit {
            session.wake.wait(timeout: .milliseconds(10))
        }
        #expect(session.counters.counts.capture.frames >= before + 4_800, "who holds the card goes on hearing it")
    }
}
