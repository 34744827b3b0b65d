import Foundation
import TestCases
import Testing
import VoiceRealtime

@testable import VoiceDevices

@Suite("File device in real time", .timeLimit(.minutes(1)))
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

    @Test("Given an input that nothing comes of, then the device starts, stops within its limit, and says so")
    func stalledInput() throws {
        // Given a pipe that holds the beginning of a WAV file, and is not closed
        try AudioFile.write([Float](repeating: 0.1, count: 48_000), to: folder.file("whole.wav"), encoding: .int16)
        let bytes = try [UInt8](Data(contentsOf: URL(filePath: folder.file("whole.wav"))))
        let pipe = folder.file("pipe")
        #expect(unsafe mkfifo(pipe, 0o600) == 0)
        let writer = unsafe open(pipe, O_RDWR)
        defer { close(writer) }
        #expect(unsafe write(writer, bytes, 20_000) == 20_000)
        let session = try Session()
        let fixture = try PortFixture(session)
        let device = FileDevice(
            FileDeviceConfiguration(input: pipe, output: folder.file("out.wav"), pacing: .realTime(priority: 0)))
        // When it is started and stopped, which would else never end
        _ = try device.start(capture: fixture.capture, playback: fixture.playback, events: { _ in })
        #expect(device.failure == nil)
        device.stop()
        // Then it says that the input gave nothing
        let failure = device.failure
        guard case .unreadable(pipe, _) = failure else { return #expect(Bool(false), "\(failure as Any)") }
    }
}
