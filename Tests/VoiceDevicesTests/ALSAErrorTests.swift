import Testing

@testable import VoiceDevices

#if canImport(Glibc)
    import Glibc
#endif

@Suite("ALSA errors")
struct ALSAErrorTests {
    @Test(
        "Each errno of an opening is sorted by its remedy",
        arguments: [
            (ENOENT, DeviceError.notFound(name: "x", available: ["a", "b"])),
            (ENODEV, .notFound(name: "x", available: ["a", "b"])),
            (EBUSY, .busy(name: "x", holders: [ALSADeviceHolder(processID: 7, command: "player")])),
            (EACCES, .permissionDenied(name: "x")), (EPERM, .permissionDenied(name: "x")),
        ])
    func sorting(errno: Int32, expected: DeviceError) {
        #expect(
            DeviceError(
                alsa: -errno, name: "x", step: "opening", available: { ["a", "b"] },
                holders: { [ALSADeviceHolder(processID: 7, command: "player")] }) == expected)
    }

    @Test("Any other errno keeps its step and its words")
    func other() {
        let error = DeviceError(alsa: -EIO, name: "x", step: "opening")
        #expect(error == .io(message: "opening of 'x': Input/output error"))
    }

    @Test("A configuration that makes no sense is refused before anything is opened")
    func configuration() throws {
        var tiny = ALSADeviceConfiguration("x")
        tiny.periodFrames = 0
        var single = ALSADeviceConfiguration("x")
        single.playbackPeriods = 1
        var eager = ALSADeviceConfiguration("x")
        eager.playbackPriority = 100
        for configuration in [tiny, single, eager, ALSADeviceConfiguration(capture: nil, playback: nil)] {
            let fixture = try PortFixture(try Session())
            var refusal: DeviceError?
            do {
                _ = try ALSADevice(configuration).start(capture: fixture.capture, playback: fixture.playback) { _ in }
            } catch { refusal = error }
            guard case .invalidConfiguration = refusal else {
                Issue.record("\(configuration) gave \(String(describing: refusal))")
                continue
            }
        }
    }
}
