import Foundation
import TestCases
import Testing
import VoiceRealtime

@testable import VoiceDevices

#if canImport(Glibc)
    import Glibc
#endif

/// PCMs that need no sound card, in a configuration of their own. Alsa-lib reads its configuration once for a process,
/// and so does this.
enum CardlessALSA {
    static let folder = try? TemporaryFolder()
    static let base = "/usr/share/alsa/alsa.conf"
    /// What nobody may read, root neither: events are only ever written to it.
    static let locked = "/sys/bus/cpu/uevent"

    /// What alsa-lib reads instead of the machine's own configuration.
    static var text: String {
        guard let folder else { return "" }
        return """
            <\(base)>
            pcm.silent { type null hint { show on description "Hears and plays nothing" } }
            pcm.tape {
                type file slave.pcm { type null } file "/dev/null" infile "\(folder.file("tape.raw"))" format raw
            }
            pcm.telephone { type mulaw slave { pcm { type null } format S16_LE } }
            pcm.locked { type file slave.pcm { type null } file "/dev/null" infile "\(locked)" format raw }
            pcm.recorder { type file slave.pcm { type null } file "\(folder.file("played.raw"))" format raw }
            \(VirtualCard.configuration)
            """
    }

    /// True once the configuration is in place; false where alsa-lib's own configuration is not installed.
    static let isReady: Bool = {
        guard let folder, unsafe access(base, R_OK) == 0 else { return false }
        let tape = (0..<480_000).flatMap { frame in
            withUnsafeBytesOf(Float(frame % 1_000) / 1_000)
        }
        do {
            try folder.write(tape, to: "tape.raw")
            try folder.write(Array(text.utf8), to: "asound.conf")
        } catch { return false }
        return unsafe setenv("ALSA_CONFIG_PATH", folder.file("asound.conf"), 1) == 0
    }()

    private static func withUnsafeBytesOf(_ value: Float) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value.bitPattern >> (8 * $0)) }
    }
}

@Suite(
    "ALSA device without a card", .serialized, .enabled(if: CardlessALSA.isReady, "alsa-lib's configuration is missing")
)
struct ALSADeviceLiveTests {
    @Test("It starts and stops twenty times, and moves frames each time")
    func restarts() throws {
        let device = ALSADevice(ALSADeviceConfiguration("silent"))
        for _ in 0..<20 {
            let session = try Session()
            let fixture = try PortFixture(session)
            let log = EventLog()
            let formats = try device.start(capture: fixture.capture, playback: fixture.playback, events: log.note)
            #expect(formats.capture?.active.sampleRate == 48_000)
            #expect(formats.playback?.active.sampleFormat == .float32)
            #expect(formats.playback?.active.periodFrames == 240)
            let limit = MonotonicTime.now().nanoseconds + 10_000_000_000
            while MonotonicTime.now().nanoseconds < limit {
                let counts = session.counters.counts
                if counts.playback.frames >= 480, counts.capture.frames >= 480 { break }
                session.wake.wait(timeout: .milliseconds(10))
            }
            device.stop()
            let counts = session.counters.counts
            #expect(counts.playback.frames >= 480 && counts.capture.frames >= 480)
            for event in log.all {
                switch event {
                case .schedulingRefused: break
                // After a thread that did not run for longer than the limit of what is still of use
                case .trimmed where counts.capture.worstLatenessNanoseconds > 40_000_000: break
                default: Issue.record("no event is due: \(event)")
                }
            }
            device.stop()
            #expect(session.counters.counts == counts, "nothing moves after a stop")
        }
    }

    @Test("What the device captures arrives, and what was rendered it plays, after the silence of the start")
    func tape() throws {
        let device = ALSADevice(ALSADeviceConfiguration(capture: "tape", playback: "recorder"))
        let session = try Session()
        var fixture = try PortFixture(session)
        var random = SeededNumbers(seed: 9)
        fixture.ends.play(random.noise(60_000))
        _ = try device.start(capture: fixture.capture, playback: fixture.playback) { _ in }
        let limit = MonotonicTime.now().nanoseconds + 10_000_000_000
        while session.counters.counts.capture.frames < 4_800, MonotonicTime.now().nanoseconds < limit {
            session.wake.wait(timeout: .milliseconds(10))
        }
        device.stop()
        let heard = fixture.ends.takeCaptured()
        #expect(heard.count >= 4_800)
        // What a thread that came too late has skipped is missing.
        if session.counters.counts.capture.trims == 0 {
            #expect(heard.enumerated().allSatisfy { $0.element == Float($0.offset % 1_000) / 1_000 })
        }
        let played = try #require(CardlessALSA.folder).readFloats("played.raw")
        let rendered = fixture.ends.takeReference()
        #expect(rendered.count >= 240)
        // The last period may have been rendered and not taken any more.
        #expect(played.count >= 480 + rendered.count - 240)
        #expect(played == Array(([Float](repeating: 0, count: 480) + rendered).prefix(played.count)))
    }

    @Test("A device without a clock of its own is held to the system's")
    func pacing() throws {
        let device = ALSADevice(ALSADeviceConfiguration("silent"))
        let session = try Session()
        let fixture = try PortFixture(session)
        let start = MonotonicTime.now()
        _ = try device.start(capture: fixture.capture, playback: fixture.playback) { _ in }
        let limit = start.nanoseconds + 10_000_000_000
        while session.counters.counts.playback.frames < 12_000, MonotonicTime.now().nanoseconds < limit {
            session.wake.wait(timeout: .milliseconds(10))
        }
        device.stop()
        let counts = session.counters.counts
        let elapsed = MonotonicTime.now().frames(since: start, sampleRate: 48_000)
        // Never ahead by more than its buffer and the two periods that count as jitter, and one cycle's worth.
        #expect(counts.playback.frames <= elapsed + 480 + 480 + 720)
        #expect(counts.capture.frames <= elapsed + 1_920 + 480 + 2_160)
    }

    @Test("One direction may be left out")
    func oneDirection() throws {
        for (capture, playback) in [("silent", nil), (nil, "silent")] as [(String?, String?)] {
            let device = ALSADevice(ALSADeviceConfiguration(capture: capture, playback: playback))
            let session = try Session()
            let fixture = try PortFixture(session)
            let formats = try device.start(capture: fixture.capture, playback: fixture.playback) { _ in }
            #expect((formats.capture != nil) == (capture != nil))
            #expect((formats.playback != nil) == (playback != nil))
            device.stop()
        }
    }

    @Test("A name that is not there is told with those that are")
    func missing() throws {
        let error = startError(ALSADeviceConfiguration("no-such-card"))
        guard case .notFound("no-such-card", let available) = error else {
            Issue.record("it gave \(String(describing: error))")
            return
        }
        #expect(available.contains("silent"))
    }

    @Test("A PCM that takes no linear samples is refused, with a name by which it can be used")
    func unsupported() throws {
        let error = startError(ALSADeviceConfiguration("telephone"))
        guard case .unsupported(_, let offers) = error else {
            Issue.record("it gave \(String(describing: error))")
            return
        }
        #expect(offers.hasSuffix("'plug:telephone'"))
        #expect(startError(ALSADeviceConfiguration("plug:telephone")) == nil)
    }

    @Test(
        "A PCM that may not be opened is told as such",
        .enabled(if: FileManager.default.fileExists(atPath: CardlessALSA.locked), "needs sysfs"))
    func locked() throws {
        #expect(
            startError(ALSADeviceConfiguration(capture: "locked", playback: nil)) == .permissionDenied(name: "locked"))
    }

    @Test("A running device does not start twice")
    func twice() throws {
        let device = ALSADevice(ALSADeviceConfiguration("silent"))
        let first = try PortFixture(try Session())
        _ = try device.start(capture: first.capture, playback: first.playback) { _ in }
        #expect(startError(device) == .alreadyRunning)
        device.stop()
    }

    @Test("The list holds what the configuration shows, with what it can do")
    func list() throws {
        defer { VirtualCard.removeDefault() }
        let entry = try #require(ALSADevice.list().first { $0.name == "silent" })
        #expect(entry.description == "Hears and plays nothing")
        guard case .available(let rates, let channels, _) = entry.playback else {
            Issue.record("playback is \(String(describing: entry.playback))")
            return
        }
        #expect(rates.contains(48_000) && channels.contains(1))
        #expect(entry.capture != nil)
    }

    private func startError(_ configuration: ALSADeviceConfiguration) -> DeviceError? {
        startError(ALSADevice(configuration))
    }

    private func startError(_ device: ALSADevice) -> DeviceError? {
        guard let session = try? Session(), let fixture = try? PortFixture(session) else { return nil }
        do {
            _ = try device.start(capture: fixture.capture, playback: fixture.playback) { _ in }
        } catch { return error }
        return nil
    }
}
