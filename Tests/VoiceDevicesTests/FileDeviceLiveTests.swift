import Foundation
import Synchronization
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
        // Ten seconds, so that this device has no xrun on a machine that stands still.
        configuration.card.periods = 1_000
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
        #expect(written == session.counters.counts.playback.frames + 1_000 * 480)
        device.stop()
    }

    @Test("Given an input that nothing comes of, then the device starts, stops within its limit, and says so")
    func stalledInput() throws {
        // Given a pipe that holds the beginning of a WAV file, and is not closed
        let pipe = try SoundPipe(folder)
        pipe.write(20_000)
        let session = try Session()
        var fixture = try PortFixture(session)
        fixture.ends.play([Float](repeating: 0.5, count: 48_000))
        let device = FileDevice(
            FileDeviceConfiguration(input: pipe.path, output: folder.file("out.wav"), pacing: .realTime(priority: 0)))
        // When it is started and stopped, which would else never end
        _ = try device.start(capture: fixture.capture, playback: fixture.playback, events: { _ in })
        #expect(device.failure == nil)
        while session.counters.counts.playback.frames < 4_800 { session.wake.wait(timeout: .milliseconds(10)) }
        device.stop()
        // Then it says that the input gave nothing
        let failure = device.failure
        guard case .unreadable(pipe.path, _) = failure else { return #expect(Bool(false), "\(failure as Any)") }
        // and what was played is all there
        let written = try AudioFile.read(folder.file("out.wav")).samples
        #expect(written.count >= session.counters.counts.playback.frames)
        #expect(written.contains { $0 > 0.4 })
    }

    @Test("Given an input that comes as it is spoken, then what is played is written all the same")
    func liveInput() throws {
        // Given a pipe that somebody writes sound to in real time
        let pipe = try SoundPipe(folder)
        let feeding = try pipe.feed()
        defer { feeding.stop() }
        let session = try Session()
        let fixture = try PortFixture(session)
        var configuration = FileDeviceConfiguration(
            input: pipe.path, output: folder.file("out.wav"), pacing: .realTime(priority: 0))
        configuration.card.periods = 100
        let device = FileDevice(configuration)
        let log = EventLog()
        _ = try device.start(capture: fixture.capture, playback: fixture.playback, events: log.note)
        // When it has run for longer than the rings between it and the disk hold
        while session.counters.counts.playback.frames < 300_000 { session.wake.wait(timeout: .milliseconds(10)) }
        device.stop()
        // Then nothing of the output is lost, and the input was no reason to wait
        #expect(!log.all.contains { if case .outputLost = $0 { true } else { false } }, "\(log.all)")
        #expect(device.failure == nil)
        let written = try AudioFile.read(folder.file("out.wav")).samples.count
        let counts = session.counters.counts.playback
        #expect(written >= counts.frames)
        if counts.xruns == 0 { #expect(written == counts.frames + 100 * 480) }
    }

    @Test("Stopped from the handler of the input's end, it leaves a complete file behind")
    func stopFromHandler() throws {
        try AudioFile.write([Float](repeating: 0.1, count: 9_600), to: folder.file("in.wav"))
        let session = try Session()
        let fixture = try PortFixture(session)
        let out = folder.file("out.wav")
        let device = FileDevice(
            FileDeviceConfiguration(input: folder.file("in.wav"), output: out, pacing: .realTime(priority: 0)))
        let found = Mutex<Int?>(nil)
        _ = try device.start(capture: fixture.capture, playback: fixture.playback) { event in
            guard event == .endOfInput else { return }
            device.stop()
            found.withLock { $0 = try? AudioFile.read(out).samples.count }
        }
        while found.withLock({ $0 == nil }) { session.wake.wait(timeout: .milliseconds(10)) }
        #expect(found.withLock { $0 ?? 0 } >= session.counters.counts.playback.frames)
    }
}

/// A pipe that a WAV file of some seconds comes through bit by bit.
private final class SoundPipe: Sendable {
    let path: String
    private let bytes: [UInt8]
    private let descriptor: Int32

    init(_ folder: TemporaryFolder) throws {
        let whole = folder.file("whole.wav")
        try AudioFile.write([Float](repeating: 0.1, count: 20 * 48_000), to: whole, encoding: .int16)
        bytes = try [UInt8](Data(contentsOf: URL(filePath: whole)))
        path = folder.file("pipe")
        #expect(unsafe mkfifo(path, 0o600) == 0)
        // A full pipe holds nobody up.
        descriptor = unsafe open(path, O_RDWR | O_NONBLOCK)
    }

    deinit { close(descriptor) }

    /// Writes a beginning.
    func write(_ count: Int) { #expect(unsafe Glibc.write(descriptor, bytes, count) == count) }

    /// Writes the sound as time goes by, until it is stopped.
    func feed() throws -> RealtimeThread {
        let (pause, start) = (try WakeSignal(), MonotonicTime.now().nanoseconds)
        return try RealtimeThread(name: "pipe", priority: 0, wake: pause) { [self] stop in
            var place = 0
            while !stop.isRaised {
                // 96 bytes a millisecond, and the header.
                let due = min(44 + Int((MonotonicTime.now().nanoseconds - start) / 1_000_000) * 96, bytes.count)
                if due > place {
                    let part = Array(bytes[place..<due])
                    place += max(unsafe Glibc.write(descriptor, part, part.count), 0)
                }
                pause.wait(timeout: .milliseconds(20))
            }
        }
    }
}
