import Testing
import VoiceRealtime

@testable import VoiceDevices

@Suite("Simulated device in real time")
struct SimulatedDeviceLiveTests {
    @Test("Paced by the real clock it moves frames and stops at once")
    func paced() throws {
        let session = try Session()
        let fixture = try PortFixture(session)
        var configuration = SimulatedDeviceConfiguration(pacing: .realTime(priority: 0))
        configuration.periodFrames = 48
        configuration.periods = 1_000
        let device = try SimulatedDevice(air: CableAir(), configuration: configuration)
        _ = try device.start(capture: fixture.capture, playback: fixture.playback) { _ in }
        let limit = MonotonicTime.now().nanoseconds + 10_000_000_000
        while session.counters.counts.playback.frames < 480, MonotonicTime.now().nanoseconds < limit {
            session.wake.wait(timeout: .milliseconds(10))
        }
        device.stop()
        let counts = session.counters.counts
        #expect(counts.playback.frames >= 480)
        #expect(counts.playback.frames == counts.capture.frames)
        device.stop()
        #expect(session.counters.counts == counts)
    }
}
