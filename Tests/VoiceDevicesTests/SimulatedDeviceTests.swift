import Testing
import VoiceRealtime

@testable import VoiceDevices

@Suite("Simulated device")
struct SimulatedDeviceTests {
    struct Shape: CustomStringConvertible {
        let period: Int
        let periods: Int
        var description: String { "\(period) x \(periods)" }
    }

    static let shapes = [(1, 2), (64, 2), (120, 2), (240, 2), (240, 3), (441, 2), (480, 4)].map(Shape.init)

    private func virtual(_ shape: Shape, ppm: Double = 0) -> SimulatedDeviceConfiguration {
        var configuration = SimulatedDeviceConfiguration(pacing: .virtual(start: MonotonicTime(nanoseconds: 1_000)))
        configuration.periodFrames = shape.period
        configuration.periods = shape.periods
        configuration.driftPPM = ppm
        return configuration
    }

    @Test("The way through is N periods, to the sample, by count and by time", arguments: shapes)
    func loop(shape: Shape) throws {
        let session = try Session()
        var fixture = try PortFixture(session)
        let device = try SimulatedDevice(air: CableAir(), configuration: virtual(shape))
        // A pulse at frame 10,000 of what is played.
        fixture.ends.play([Float](repeating: 0, count: 10_000) + [0.5] + [Float](repeating: 0, count: 10_000))
        _ = try device.start(capture: fixture.capture, playback: fixture.playback) {
            Issue.record("no event is due: \($0)")
        }
        device.advance(to: MonotonicTime(nanoseconds: 1_000).advanced(byFrames: 14_000, sampleRate: 48_000))
        let dacTime = fixture.ends.reference.nextTime()
        let adcTime = fixture.ends.captured.nextTime()
        let reference = fixture.ends.takeReference()
        let captured = fixture.ends.takeCaptured()
        let played = try #require(reference.firstIndex(of: 0.5))
        let heard = try #require(captured.firstIndex(of: 0.5))
        #expect(played == 10_000)
        #expect(heard - played == shape.period * shape.periods)
        let soundedAt = dacTime.advanced(byFrames: played, sampleRate: 48_000)
        let heardAt = adcTime.advanced(byFrames: heard, sampleRate: 48_000)
        // Each time is rounded down to the nanosecond once or twice.
        #expect(abs(soundedAt.nanoseconds - heardAt.nanoseconds) <= 2)
    }

    @Test("Each delivery carries the time of its first frame at the ADC, each fetch that at the DAC")
    func times() throws {
        let session = try Session()
        var fixture = try PortFixture(session)
        let shape = Shape(period: 240, periods: 3)
        let device = try SimulatedDevice(air: SilentAir(), configuration: virtual(shape))
        let formats = try device.start(capture: fixture.capture, playback: fixture.playback) { _ in }
        #expect(formats.playback?.active.bufferFrames == 720)
        for period in 0..<10 {
            let wake = try #require(device.nextWake)
            #expect(wake.nanoseconds == 1_000 + Int64(period + 1) * 5_000_000)
            #expect(device.advance(to: MonotonicTime(nanoseconds: wake.nanoseconds - 1)) == 0)
            #expect(device.advance(to: wake) == 1)
            #expect(fixture.ends.captured.nextTime().nanoseconds == wake.nanoseconds - 5_000_000)
            #expect(fixture.ends.reference.nextTime().nanoseconds == wake.nanoseconds + 2 * 5_000_000)
            _ = fixture.ends.takeCaptured()
            _ = fixture.ends.takeReference()
        }
        #expect(session.counters.counts.capture.wakeUps == 10)
        device.stop()
        #expect(device.nextWake == nil)
        #expect(device.advance(to: MonotonicTime(nanoseconds: .max / 2)) == 0)
    }

    @Test("A fast clock yields more frames in the same time", arguments: [-200.0, 0, 100, 5_000])
    func drift(ppm: Double) throws {
        let session = try Session()
        let fixture = try PortFixture(session)
        let device = try SimulatedDevice(
            air: SilentAir(), configuration: virtual(Shape(period: 48, periods: 2), ppm: ppm))
        _ = try device.start(capture: fixture.capture, playback: fixture.playback) { _ in }
        device.advance(to: MonotonicTime(nanoseconds: 100_000_001_000))
        let expected = 4_800_000 * (1 + ppm * 1e-6)
        #expect(abs(Double(session.counters.counts.capture.frames) - expected) <= 48)
        #expect(session.counters.counts.capture.driftPPM == ppm)
    }

    @Test("Late wake-ups are caught up within the buffer, and are an xrun beyond it")
    func lateness() throws {
        let session = try Session()
        var fixture = try PortFixture(session)
        let configuration = virtual(Shape(period: 480, periods: 3))
        var clockwork = DuplexClockwork(air: SilentAir(), configuration: configuration)
        clockwork.start(
            DevicePorts(capture: fixture.capture, playback: fixture.playback), at: MonotonicTime(nanoseconds: 0))
        // Due at 10 ms; two more periods are queued, until 30 ms.
        let restartedInTime = clockwork.catchUp(to: MonotonicTime(nanoseconds: 30_000_000))
        #expect(!restartedInTime)
        #expect(session.counters.counts.playback.frames == 3 * 480)
        #expect(session.counters.counts.playback.worstLatenessNanoseconds == 20_000_000)
        let restartedLate = clockwork.catchUp(to: MonotonicTime(nanoseconds: 60_000_001))
        #expect(restartedLate)
        let counts = session.counters.counts
        #expect(counts.capture.xruns == 1 && counts.playback.xruns == 1)
        #expect(counts.capture.restarts == 1 && counts.playback.restarts == 1)
        #expect(clockwork.nextWake == MonotonicTime(nanoseconds: 70_000_000))
        // From 30 to 60 ms nobody heard the microphone, from 60 to 90 ms the loudspeaker was silent.
        #expect(counts.capture.gapFrames == 3 * 480 && counts.playback.gapFrames == 3 * 480)
        let restartedAgain = clockwork.catchUp(to: MonotonicTime(nanoseconds: 70_000_000))
        #expect(!restartedAgain)
        let reference = fixture.ends.takeReference()
        #expect(reference.count == (3 + 3 + 1) * 480)
    }

    /// Counts the frames that sounded.
    private struct CountingAir: AcousticAir {
        var frames = 0
        mutating func process(speaker: Span<Float>, into microphone: inout MutableSpan<Float>) {
            frames += speaker.count
        }
    }

    @Test("The room goes on sounding through an xrun, in step with the clock")
    func airThroughXrun() throws {
        let session = try Session()
        let fixture = try PortFixture(session)
        var clockwork = DuplexClockwork(air: CountingAir(), configuration: virtual(Shape(period: 480, periods: 3)))
        clockwork.start(
            DevicePorts(capture: fixture.capture, playback: fixture.playback), at: MonotonicTime(nanoseconds: 0))
        _ = clockwork.catchUp(to: MonotonicTime(nanoseconds: 60_000_001))
        #expect(clockwork.air.frames == 6 * 480)
        _ = clockwork.catchUp(to: MonotonicTime(nanoseconds: 90_000_000))
        #expect(clockwork.air.frames == 9 * 480)
    }

    @Test("A configuration that makes no sense is refused")
    func configuration() {
        for (period, periods, ppm) in [(0, 2, 0.0), (240, 1, 0), (240, 2, .nan), (240, 2, 20_000)] {
            let configuration = virtual(Shape(period: period, periods: periods), ppm: ppm)
            #expect { try NullDevice(air: SilentAir(), configuration: configuration) } throws: { error in
                guard case DeviceError.invalidConfiguration = error else { return false }
                return true
            }
        }
    }

    @Test("A running device does not start twice; a stopped one starts again")
    func restart() throws {
        let device = try NullDevice(air: SilentAir(), configuration: virtual(Shape(period: 240, periods: 2)))
        for _ in 0..<3 {
            let session = try Session()
            let fixture = try PortFixture(session)
            _ = try device.start(capture: fixture.capture, playback: fixture.playback) { _ in }
            let second = try PortFixture(try Session())
            var refusal: DeviceError?
            do {
                _ = try device.start(capture: second.capture, playback: second.playback) { _ in }
            } catch { refusal = error }
            #expect(refusal == .alreadyRunning)
            device.stop()
        }
    }
}
