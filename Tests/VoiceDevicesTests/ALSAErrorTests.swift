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

    @Test("A card that is not found because it may not be opened is told as such", arguments: [ENOENT, ENODEV, ENXIO])
    func denied(errno: Int32) {
        let error = DeviceError(alsa: -errno, name: "x", step: "opening", isDenied: { true }, available: { ["a"] })
        #expect(error == .permissionDenied(name: "x"))
    }

    @Test("Cards are denied where there are some and none may be opened")
    func access() throws {
        let tree = try FolderTree(["snd/controlC0": "", "snd/controlC1": "", "snd/pcmC0D0p": "", "none/timer": ""])
        #expect(SoundNodeAccess.isDenied(folder: "\(tree.path)/snd") { _ in false })
        #expect(!SoundNodeAccess.isDenied(folder: "\(tree.path)/snd") { $0.hasSuffix("1") })
        #expect(!SoundNodeAccess.isDenied(folder: "\(tree.path)/none") { _ in false })
        #expect(!SoundNodeAccess.isDenied(folder: "\(tree.path)/missing") { _ in false })
    }

    @Test(
        "What an errno's words do not tell a user is told",
        arguments: [(ECONNREFUSED, "sound server"), (EHOSTDOWN, "sound server"), (ENOSPC, "USB")])
    func remedies(errno: Int32, word: String) {
        #expect(DeviceError(alsa: -errno, name: "x", step: "starting").description.contains(word))
    }

    @Test(
        "Any PCM can be named through alsa-lib's conversions",
        arguments: [
            ("hw:1,0", "plughw:1,0"), ("hw:CARD=PCH,DEV=0", "plughw:CARD=PCH,DEV=0"), ("telephone", "plug:telephone"),
            ("dsnoop:1,0", "plug:\"dsnoop:1,0\""),
        ])
    func converting(name: String, expected: String) { #expect(ALSACardAddress.converting(name) == expected) }

    @Test("What ends a direction is told with what to do about it, and not all as coming too late")
    func endings() {
        let late = DeviceEventCode(kind: .failed, errno: EPIPE)
        let refused = DeviceEventCode(kind: .refused, errno: EPIPE)
        let still = DeviceEventCode(kind: .failed, errno: ETIMEDOUT)
        for (code, words) in [(late, "longer period"), (refused, "sound server"), (still, "HDMI")] {
            guard case .failed(.playback, .io(let message)) = code.event(.playback) else {
                Issue.record("\(code) is \(code.event(.playback))")
                continue
            }
            #expect(message.contains(words))
        }
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
