import Synchronization
import TestCases
import Testing
import VoiceDevices
import VoiceRealtime

/// Events as they came.
final class EventLog: Sendable {
    private let events = Mutex<[DeviceEvent]>([])

    var all: [DeviceEvent] { events.withLock { $0 } }

    func note(_ event: DeviceEvent) { events.withLock { $0.append(event) } }
}

@Suite("File device")
struct FileDeviceTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func virtual(input: String?, output: String?) -> FileDeviceConfiguration {
        FileDeviceConfiguration(
            input: input, output: output, pacing: .virtual(start: MonotonicTime(nanoseconds: 0)))
    }

    @Test(
        "In virtual time the input is heard and what is played is written, to the last frame",
        arguments: [1 as UInt64, 2])
    func stepped(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        let microphone = random.noise(100_003)
        let speech = random.noise(150_000)
        try AudioFile.write(microphone, to: folder.file("in.wav"), encoding: .float32)
        let session = try Session()
        var fixture = try PortFixture(session, capacity: 262_144)
        fixture.ends.play(speech)
        var configuration = virtual(input: folder.file("in.wav"), output: folder.file("out.wav"))
        configuration.outputEncoding = .float32
        let device = FileDevice(configuration)
        let log = EventLog()
        _ = try device.start(capture: fixture.capture, playback: fixture.playback, events: log.note)
        var steps = 1
        while device.step() { steps += 1 }
        #expect(steps == 100_003 / 480 + 1)
        #expect(log.all == [.endOfInput])
        device.stop()
        #expect(device.failure == nil)
        let heard = fixture.ends.takeCaptured()
        #expect(Array(heard.prefix(microphone.count)) == microphone, "seed \(seed)")
        #expect(heard.dropFirst(microphone.count).allSatisfy { $0 == 0 })
        // The buffer's silence first, then all that was rendered.
        let written = try AudioFile.read(folder.file("out.wav")).samples
        #expect(written.count == (steps + 2) * 480)
        #expect(Array(written.prefix(960)) == Array(repeating: 0, count: 960))
        #expect(Array(written.dropFirst(960)) == Array(speech.prefix(steps * 480)))
        #expect(fixture.ends.takeReference() == Array(speech.prefix(steps * 480)))
    }

    @Test("A looping input begins again and never ends")
    func looping() throws {
        let tune = (0..<1_000).map { Float($0) / 1_000 }
        try AudioFile.write(tune, to: folder.file("in.wav"), encoding: .float32)
        let session = try Session()
        var fixture = try PortFixture(session)
        var configuration = virtual(input: folder.file("in.wav"), output: nil)
        configuration.afterInput = .loop
        let device = FileDevice(configuration)
        _ = try device.start(capture: fixture.capture, playback: fixture.playback) { Issue.record("\($0)") }
        for _ in 0..<100 { #expect(device.step()) }
        device.stop()
        let heard = fixture.ends.takeCaptured()
        #expect(heard.count == 48_000)
        #expect(heard.enumerated().allSatisfy { $0.element == tune[$0.offset % 1_000] })
    }

    @Test("A loop over a file without a frame ends instead of spinning")
    func emptyLoop() throws {
        try AudioFile.write([], to: folder.file("in.wav"))
        let session = try Session()
        let fixture = try PortFixture(session)
        var configuration = virtual(input: folder.file("in.wav"), output: nil)
        configuration.afterInput = .loop
        let device = FileDevice(configuration)
        _ = try device.start(capture: fixture.capture, playback: fixture.playback) { _ in }
        #expect(!device.step())
        device.stop()
    }

    @Test("Without an input it hears silence for as long as one likes")
    func outputOnly() throws {
        let session = try Session()
        var fixture = try PortFixture(session)
        let device = FileDevice(virtual(input: nil, output: folder.file("out.wav")))
        _ = try device.start(capture: fixture.capture, playback: fixture.playback) { Issue.record("\($0)") }
        for _ in 0..<10 { #expect(device.step()) }
        device.stop()
        #expect(fixture.ends.takeCaptured() == Array(repeating: 0, count: 4_800))
        #expect(try AudioFile.read(folder.file("out.wav")).samples.count == 12 * 480)
    }

    @Test("What stands in the way of a start is an error, with nothing started")
    func startErrors() throws {
        let missing = folder.file("missing.wav")
        #expect(startError(virtual(input: missing, output: nil)) == .file(.missing(path: missing)))
        #expect(startError(virtual(input: nil, output: "/dev/full")) == .file(.diskFull(path: "/dev/full")))
        var odd = virtual(input: nil, output: nil)
        odd.card.periods = 1
        guard case .invalidConfiguration = startError(odd) else {
            Issue.record("one period was accepted")
            return
        }
    }

    private func startError(_ configuration: FileDeviceConfiguration) -> DeviceError? {
        guard let session = try? Session(), let fixture = try? PortFixture(session) else { return nil }
        do {
            _ = try FileDevice(configuration).start(capture: fixture.capture, playback: fixture.playback) { _ in }
        } catch { return error }
        return nil
    }
}
