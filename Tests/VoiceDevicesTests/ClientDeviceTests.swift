import Testing
import VoiceRealtime

@testable import VoiceDevices

@Suite("Client device")
struct ClientDeviceTests {
    @Test("Frames go in and out, with times by count where none are given")
    func transfers() throws {
        let session = try Session()
        var fixture = try PortFixture(session)
        let device = ClientDevice(epoch: MonotonicTime(nanoseconds: 9_000))
        #expect(device.sendAudioData([1]) == 0, "not running yet")
        fixture.ends.play([0.1, 0.2, 0.3])
        _ = try device.start(capture: fixture.capture, playback: fixture.playback) { _ in }
        #expect(device.sendAudioData([Float](repeating: 0.5, count: 480)) == 480)
        #expect(fixture.ends.captured.nextTime() == MonotonicTime(nanoseconds: 9_000))
        fixture.ends.captured.release(480)
        #expect(device.sendAudioData([0.25]) == 1)
        #expect(fixture.ends.captured.nextTime() == MonotonicTime(nanoseconds: 10_009_000))
        fixture.ends.captured.release(1)
        #expect(device.sendAudioData([0.25], time: MonotonicTime(nanoseconds: 4)) == 1)
        #expect(fixture.ends.captured.nextTime() == MonotonicTime(nanoseconds: 4))
        var output: [Float] = [9, 9, 9]
        #expect(device.pullPlayback(into: &output, time: MonotonicTime(nanoseconds: 7)) == 3)
        #expect(output == [0.1, 0.2, 0.3])
        #expect(fixture.ends.reference.nextTime() == MonotonicTime(nanoseconds: 7))
        #expect(fixture.ends.takeReference() == output)
        device.stop()
        #expect(device.pullPlayback(into: &output) == 0)
        #expect(output == [0, 0, 0])
    }

    @Test("Reference data of the client's own takes the place of what it pulls")
    func ownReference() throws {
        let session = try Session()
        var fixture = try PortFixture(session)
        let device = ClientDevice()
        fixture.ends.play([0.1, 0.2])
        _ = try device.start(capture: fixture.capture, playback: fixture.playback) { _ in }
        #expect(device.sendReferenceData([0.7, 0.8], time: MonotonicTime(nanoseconds: 3)) == 2)
        var output: [Float] = [0, 0]
        #expect(device.pullPlayback(into: &output) == 2)
        #expect(fixture.ends.reference.nextTime() == MonotonicTime(nanoseconds: 3))
        #expect(fixture.ends.takeReference() == [0.7, 0.8])
        device.stop()
    }

    @Test("Times by count stay exact over years", arguments: [0, 1, 53 * 3_600, 3 * 365 * 86_400])
    func longRuns(seconds: Int) {
        let start = MonotonicTime(nanoseconds: 0)
        let time = start.advanced(byFrames: seconds * 48_000 + 24_000, sampleRate: 48_000)
        #expect(time.nanoseconds == Int64(seconds) * 1_000_000_000 + 500_000_000)
    }

    @Test("It does not start twice")
    func twice() throws {
        let device = ClientDevice()
        let first = try PortFixture(try Session())
        _ = try device.start(capture: first.capture, playback: first.playback) { _ in }
        let second = try PortFixture(try Session())
        #expect(throws: DeviceError.alreadyRunning) {
            try start(device)
        }
        device.stop()
        _ = try device.start(capture: second.capture, playback: second.playback) { _ in }
        device.stop()
    }

    private func start(_ device: ClientDevice) throws {
        let fixture = try PortFixture(try Session())
        _ = try device.start(capture: fixture.capture, playback: fixture.playback) { _ in }
    }
}
