import TestCases
import Testing
import VoiceRealtime

@testable import VoiceDevices

@Suite("Ports that are lent")
struct PortDockTests {
    private static let start = MonotonicTime(nanoseconds: 1_000_000_000)

    /// Two docks and the far ends of their ports.
    private final class Docks {
        let session: Session
        let capture: PortDock<CapturePort>
        let playback: PortDock<PlaybackPort>
        var ends: MediaEnds

        init() throws {
            let session = try Session()
            let captureRing = try FrameRing(minimumCapacity: 65_536)
            let playoutRing = try FrameRing(minimumCapacity: 65_536)
            let referenceRing = try FrameRing(minimumCapacity: 65_536)
            self.session = session
            capture = PortDock(
                CapturePort(ring: captureRing.producer, wake: session.wake, counters: session.counters))
            playback = PortDock(
                PlaybackPort(
                    playout: playoutRing.consumer, reference: referenceRing.producer, wake: session.wake,
                    control: session.control, counters: session.counters))
            ends = MediaEnds(
                captured: captureRing.consumer, playout: playoutRing.producer, reference: referenceRing.consumer)
        }
    }

    private func card(at start: MonotonicTime) throws -> SimulatedDevice<CableAir> {
        try SimulatedDevice(
            air: CableAir(), configuration: SimulatedDeviceConfiguration(pacing: .virtual(start: start)))
    }

    @Test("one pair of rings serves one device after the other, and no frame is lost between them")
    func succession() throws {
        let docks = try Docks()
        var random = SeededNumbers(seed: 5)
        let sound = random.noise(4_800)
        docks.ends.play(sound)
        var time = Self.start
        // When five devices follow one another, each for 4 periods of 240 frames
        for _ in 0..<5 {
            let device = try card(at: time)
            guard let capture = docks.capture.lend(), let playback = docks.playback.lend() else {
                Issue.record("the ports did not come back")
                return
            }
            #expect(!docks.capture.isHome && !docks.playback.isHome)
            _ = try device.start(capture: capture, playback: playback) { _ in }
            time = time.advanced(byFrames: 960, sampleRate: 48_000)
            device.advance(to: time)
            device.stop()
            #expect(docks.capture.isHome && docks.playback.isHome)
        }
        // Then all that was queued has been given out in order, each device's first 5 ms as a fade-in
        let played = docks.ends.takeReference()
        #expect(played.count == 4_800)
        for device in 0..<5 {
            let first = device * 960
            let settled = (first + UnderrunFade.frames)..<(first + 960)
            #expect(Array(played[settled]) == Array(sound[settled]))
            if device > 0 {
                #expect(abs(played[first]) < 0.001)
                for index in first..<settled.lowerBound { #expect(abs(played[index]) <= abs(sound[index])) }
            }
        }
        #expect(docks.session.counters.counts.capture.frames == 4_800)
        #expect(docks.ends.takeCaptured().count == 4_800)
    }

    @Test("a port that a device keeps cannot be lent again, and comes back when that lets it go")
    func keeper() throws {
        let docks = try Docks()
        // Given a port that hangs with somebody
        var keeper = docks.capture.lend()
        var second = docks.capture.lend()
        let wasRefused = second == nil
        #expect(wasRefused)
        keeper?.deliver([1, 2, 3].span, adcTime: Self.start)
        // When it is let go
        keeper = nil
        // Then the next one writes where it left off
        second = docks.capture.lend()
        second?.deliver([4, 5].span, adcTime: Self.start)
        #expect(docks.ends.takeCaptured() == [1, 2, 3, 4, 5])
    }

    @Test("what was known of one device's clock and queue is not told of the next one")
    func strangers() throws {
        let docks = try Docks()
        // Given a device whose clock and queue are known
        var capture = docks.capture.lend()
        var playback = docks.playback.lend()
        capture?.recordDrift(ppm: 120)
        capture?.recordClock(uncertaintyPPM: 1, ageSeconds: 60, jitterNanoseconds: 40_000)
        playback?.recordDrift(ppm: -80)
        playback?.recordClock(uncertaintyPPM: 2, ageSeconds: 60, jitterNanoseconds: 40_000)
        playback?.recordFillTarget(frames: 480)
        // When another takes its place
        capture = nil
        playback = nil
        #expect(docks.session.counters.counts.playback.driftPPM == -80, "who looks afterwards still sees it")
        capture = docks.capture.lend()
        playback = docks.playback.lend()
        // Then nothing is known of that one, and its own queue is no change
        let counts = docks.session.counters.counts
        for direction in [counts.capture, counts.playback] {
            #expect(direction.driftPPM == nil && direction.driftUncertaintyPPM == nil)
            #expect(direction.clockAgeSeconds == 0 && direction.clockJitterNanoseconds == 0)
        }
        #expect(counts.playback.fillTargetFrames == nil)
        playback?.recordFillTarget(frames: 720)
        #expect(docks.session.counters.counts.playback.fillTargetChanges == 0)
        _ = capture?.deliver([0].span, adcTime: Self.start)
    }

    @Test("ports come back from a device that does not start")
    func refusal() throws {
        let docks = try Docks()
        let device = ALSADevice(ALSADeviceConfiguration(capture: nil, playback: nil))
        var refusal: DeviceError?
        if let capture = docks.capture.lend(), let playback = docks.playback.lend() {
            do { _ = try device.start(capture: capture, playback: playback) { _ in } } catch { refusal = error }
        }
        #expect(refusal != nil)
        #expect(docks.capture.isHome && docks.playback.isHome)
    }

    @Test("a dock that is gone takes its port along, wherever that is")
    func orphan() throws {
        let session = try Session()
        let ring = try FrameRing(minimumCapacity: 4_096)
        var dock: PortDock<CapturePort>? = PortDock(
            CapturePort(ring: ring.producer, wake: session.wake, counters: session.counters))
        weak let watched = dock
        var port = dock?.lend()
        dock = nil
        // The port keeps it, so that there is somewhere to return to.
        #expect(watched != nil)
        port?.deliver([1].span, adcTime: Self.start)
        port = nil
        #expect(watched == nil)
    }
}
