import TestCases
import Testing
import VoiceRealtime

@testable import VoiceDevices

@Suite("File device in real time")
struct FileDeviceLiveTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("In real time the same, by way of the worker thread")
    func realTime() throws {
        var random = SeededNumbers(seed: 5)
        let microphone = random.noise(9_600)
        try AudioFile.write(microphone, to: folder.file("in.wav"), encoding: .float32)
        let session = try Session()
        var fixture = try PortFixture(session)
        var configuration = FileDeviceConfiguration(
            input: folder.file("in.wav"), output: folder.file("out.wav"), pacing: .realTime(priority: 0))
        // However late the machine is, this device has no xrun.
        configuration.card.periods = 100
        let device = FileDevice(configuration)
        let log = EventLog()
        _ = try device.start(capture: fixture.capture, playback: fixture.playback, events: log.note)
        let limit = MonotonicTime.now().nanoseconds + 20_000_000_000
        while !log.all.contains(.endOfInput), MonotonicTime.now().nanoseconds < limit {
            session.wake.wait(timeout: .milliseconds(10))
        }
        device.stop()
        #expect(device.failure == nil)
        #expect(log.all.contains(.endOfInput))
        let heard = fixture.ends.takeCaptured()
        #expect(Array(heard.prefix(9_600)) == microphone)
        let written = try AudioFile.read(folder.file("out.wav")).samples.count
        #expect(written == session.counters.counts.playback.frames + 100 * 480)
        device.stop()
    }
}
