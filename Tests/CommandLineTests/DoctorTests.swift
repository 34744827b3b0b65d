import Synchronization
import Testing
import VoiceRealtime

@testable import VoiceDevices
@testable import duplex

/// A device that plays and hears nothing.
private final class DeafDevice: AudioDevice {
    private let playback = Mutex<PlaybackPort?>(nil)
    private let played = Atomic<Int>(0)

    var framesPlayed: Int { played.load(ordering: .relaxed) }

    func start(
        capture: consuming CapturePort, playback: consuming PlaybackPort,
        events: @escaping @Sendable (DeviceEvent) -> Void
    ) throws(DeviceError) -> DeviceFormats {
        // A closure cannot consume what it captures, so the port goes in through an optional.
        var port: PlaybackPort? = playback
        self.playback.withLock { $0 = port.take() }
        return DeviceFormats(capture: nil, playback: nil)
    }

    func stop() { playback.withLock { $0 = nil } }

    func play(frames: Int) {
        let begin = MonotonicTime(nanoseconds: 5_000_000_000).advanced(byFrames: framesPlayed, sampleRate: 48_000)
        var block = [Float](repeating: 0, count: frames)
        playback.withLock { port in
            var output = block.mutableSpan
            port?.render(into: &output, dacTime: begin)
        }
        _ = played.add(frames, ordering: .relaxed)
    }
}

@Suite("Doctor and devices for scripts")
struct DoctorTests {
    private static let names = ALSADeviceConfiguration(capture: "microphone", playback: "loudspeaker")

    /// The findings on a device in virtual time whose microphone hears its loudspeaker 20 ms later, `gain` times as
    /// loud.
    private func echoFindings(gain: Float, pausesBeforeSound: Int = 0) async throws -> [Finding] {
        let start = MonotonicTime(nanoseconds: 5_000_000_000)
        let device = try SimulatedDevice(
            air: LongCable(delayFrames: 960, gain: gain),
            configuration: SimulatedDeviceConfiguration(pacing: .virtual(start: start)))
        var now = start
        var pauses = 0
        return try await EchoExamination(Self.names).examine(device) {
            pauses += 1
            guard pauses > pausesBeforeSound else { return }
            now = now.advanced(byFrames: 960, sampleRate: 48_000)
            device.advance(to: now)
        }
    }

    @Test("the echo of a device is measured: its delay, its strength, and what the canceller makes of it")
    func echo() async throws {
        let findings = try await echoFindings(gain: 0.316)
        let values = try #require(findings.first?.values)
        #expect(abs(try #require(values["echo_return_loss_db"]) - 10) < 2)
        #expect(try #require(values["linear_ratio"]) > 0.8)
        #expect(try #require(values["erle_db"]) > 15)
        #expect((15...30).contains(try #require(values["delay_ms"])))
        #expect(values["xruns"] == 0)
    }

    @Test("a device that takes 4 s to begin is waited for")
    func lateStart() async throws {
        let findings = try await echoFindings(gain: 0.316, pausesBeforeSound: 200)
        #expect(findings.first?.values?["delay_ms"] != nil)
    }

    @Test("a headset has no echo to speak of")
    func headset() async throws {
        let findings = try await echoFindings(gain: 0)
        let values = try #require(findings.first?.values)
        #expect(values["echo_return_loss_db"] == nil)
        #expect(values["delay_ms"] == nil)
        // In this simulation it hears nothing at all, as no headset does that is switched on.
        #expect(findings.last?.subject == "microphone microphone")
        #expect(findings.last?.remedy == HeardLevel.silenceRemedy)
    }

    @Test("a microphone that gives one number over and over is switched off, whatever the number")
    func dead() {
        for (samples, isDead) in [([0, 0, 0], true), ([0.25, 0.25], true), ([0, 0, 1e-6], false)] as [([Float], Bool)] {
            var (heard, part) = (HeardLevel(), HeardLevel())
            part.add(samples.span)
            heard.add(part)
            heard.add(part)
            #expect(heard.isDead == isDead)
            #expect(heard.frames == 2 * samples.count)
        }
        #expect(!HeardLevel().isDead)
        #expect(HeardLevel().decibels == nil)
    }

    @Test("a pulse that is not heard is no fault of a microphone that hears, and one that does not is told of")
    func silentMicrophone() {
        let pair = RoundTripExamination.Pair(capture: "c", playback: "p")
        for (samples, state) in [([0, 0], .degraded), ([0, 0.001], .ok)] as [([Float], Finding.State)] {
            var tally = LoopbackTally(wanted: 1)
            tally.add(LoopbackRound())
            tally.heard.add(samples.span)
            let finding = RoundTripExamination.judge(
                pair,
                DeviceLoopback.Result(
                    tally: tally, formats: DeviceFormats(capture: nil, playback: nil), playbackPeriods: 2))
            #expect(finding.state == state, "\(finding)")
            #expect(finding.detail.hasPrefix("not measured"))
            #expect((finding.remedy == HeardLevel.silenceRemedy) == (state == .degraded))
        }
    }

    @Test("a microphone of which the level alone is known is judged as by its samples: one block that sounds is enough")
    func levels() {
        var heard = HeardLevel()
        heard.add(level: -127, frames: 0)
        #expect(!heard.isDead)
        for _ in 0..<100 { heard.add(level: -127, frames: 9_600) }
        #expect(heard.isDead && heard.frames == 960_000)
        heard.add(level: -80, frames: 9_600)
        #expect(!heard.isDead)
        for _ in 0..<100 { heard.add(level: -127, frames: 9_600) }
        #expect(!heard.isDead)
        var loud = HeardLevel()
        loud.add(level: -20, frames: 480)
        #expect(abs((loud.decibels ?? 0) + 20) < 0.01)
    }

    @Test("a device that stands still is given up")
    func standstill() async throws {
        let device = try SimulatedDevice(
            air: SilentAir(),
            configuration: SimulatedDeviceConfiguration(pacing: .virtual(start: MonotonicTime(nanoseconds: 1))))
        await #expect(throws: Failure.self) {
            try await EchoExamination(Self.names).examine(device) {}
        }
    }

    @Test("so is one that plays on and hears nothing, before all is played")
    func deaf() async throws {
        let device = DeafDevice()
        await #expect(throws: Failure.self) {
            try await EchoExamination(Self.names).examine(device) { device.play(frames: 960) }
        }
        #expect(device.framesPlayed == 240_000)
    }

    @Test("a direction that has moved nothing for 5 s stands still, whatever each look takes", arguments: [10, 20])
    func standstillOfOneDirection(milliseconds: Int) {
        var standstill = Standstill()
        let interval = Duration.milliseconds(milliseconds)
        let looks = 5_000 / milliseconds
        let told = (1...looks).filter { standstill.look(played: $0, captured: 0, after: interval) }
        #expect(told == [looks])
        let moved = standstill.look(played: looks + 1, captured: 1, after: interval)
        #expect(!moved)
    }

    @Test("lateness within a period is fine, beyond it a warning, and as a rule a failure")
    func wakeUpVerdicts() throws {
        func verdict(_ milliseconds: [Double], tolerating worst: Double? = 5) throws -> Finding {
            let late = try #require(LatencyDistribution(milliseconds: milliseconds))
            return WakeUpExamination.judge("s", late, tolerating: worst, remedy: "r")
        }
        let mostlyEarly = [Double](repeating: 0.1, count: 99)
        #expect(try verdict(mostlyEarly + [4.9]).state == .ok)
        let late = try verdict(mostlyEarly + [8])
        #expect(late.state == .degraded)
        #expect(late.remedy?.contains("384 frames") == true)
        #expect(try verdict([Double](repeating: 6, count: 100)).state == .failing)
        #expect(try verdict([100], tolerating: nil).state == .ok)
    }

    @Test("how long a limit of processor time held the process up is read from its group's figures")
    func throttled() {
        let text = "usage_usec 9\nnr_periods 3\nnr_throttled 2\nthrottled_usec 12500"
        #expect(WakeUpExamination.throttledMilliseconds(in: text) == 12.5)
        #expect(WakeUpExamination.throttledMilliseconds(in: "usage_usec 9") == nil)
        #expect(WakeUpExamination.remedy(stolen: 0, throttled: 12.5).contains("--cpus"))
        #expect(WakeUpExamination.remedy(stolen: 3, throttled: 12.5).contains("host"))
        #expect(WakeUpExamination.remedy(stolen: 0, throttled: 0).contains("close what"))
    }

    @Test(
        "what a library lacks is told by its version",
        arguments: [
            ("libopus 1.2.1", ["1.3", "1.5"]), ("libopus 1.3.1", ["1.5"]), ("libopus 1.4-rc1", ["1.5"]),
            ("libopus 1.5.2", []), ("libopus 2.0", []), ("libopus unknown", []),
        ] as [(String, [String])])
    func opus(version: String, lacking: [String]) {
        let finding = Finding.opus(version, file: "f")
        #expect(finding.state == .ok)
        for news in ["1.3", "1.5"] where !version.contains(news) {
            #expect(finding.detail.contains(" of \(news)") == lacking.contains(news), "\(finding.detail)")
        }
    }

    @Test("an alsa-lib that does not lock is a warning")
    func alsa() {
        #expect(Finding.alsa("1.0.29", file: "f").state == .degraded)
        #expect(Finding.alsa("1.2.8", file: "f").state == .ok)
        #expect(Finding.alsa("1.1.0", file: "f").state == .ok)
    }

    @Test("a sound server that 'default' leads to and that does not answer is a warning with its remedy")
    func servers() {
        func finding(_ meaning: DefaultCard.Meaning?, _ running: [String], _ opens: Bool) -> Finding {
            DeviceExamination.server(behind: meaning, running: running, opens: opens)
        }
        #expect(finding(.server(type: "pipewire"), ["PipeWire"], true).state == .ok)
        let dead = finding(.server(type: "pipewire"), [], false)
        #expect(dead.state == .degraded && dead.remedy?.contains("systemctl --user start pipewire") == true)
        let unplugged = finding(.server(type: "pulse"), ["PulseAudio"], false)
        #expect(unplugged.remedy?.contains("plugin") == true)
        let bypassed = finding(.card(identifier: "PCH"), ["PipeWire"], false)
        #expect(bypassed.state == .degraded && bypassed.remedy?.contains("pipewire-alsa") == true)
        #expect(finding(.card(identifier: "PCH"), [], true).state == .ok)
        #expect(finding(nil, [], false).state == .degraded)
    }

    @Test("a machine without a microphone is told what to do")
    func missing() {
        #expect(DeviceExamination.missing(microphones: 0, speakers: 2)?.contains("microphone") == true)
        #expect(DeviceExamination.missing(microphones: 1, speakers: 0)?.contains("loudspeaker") == true)
        #expect(DeviceExamination.missing(microphones: 1, speakers: 1) == nil)
    }

    @Test("a card whose mixer lets nothing through is a warning with the command that mends it")
    func mixers() {
        let muted = DeviceExamination.mixer(
            of: "hw:CARD=PCH,DEV=0", .playback, silencedBy: [MixerControl("Master", .playback, isMuted: true)])
        #expect(muted?.state == .degraded)
        #expect(muted?.detail == "playback is silent: 'Master' is muted")
        #expect(muted?.remedy?.contains("amixer -D hw:CARD=PCH sset 'Master' 80% unmute") == true)
        let low = DeviceExamination.mixer(
            of: "hw:CARD=PCH,DEV=0", .capture, silencedBy: [MixerControl("Capture", .capture, isAtMinimum: true)])
        #expect(low?.detail == "capture is silent: 'Capture' is at its lowest")
        #expect(low?.remedy?.contains("sset 'Capture' 80% cap") == true)
        #expect(DeviceExamination.mixer(of: "hw:CARD=PCH,DEV=0", .playback, silencedBy: []) == nil)
    }

    @Test("round trips go through 'default' and once through each card")
    func pairs() {
        let usable = ALSADeviceDescription.State.available(
            sampleRates: 48_000...48_000, channels: 1...2, periodFrames: 32...4_096)
        func device(
            _ name: String, _ capture: ALSADeviceDescription.State?, _ playback: ALSADeviceDescription.State?
        ) -> ALSADeviceDescription {
            ALSADeviceDescription(name: name, description: "", capture: capture, playback: playback)
        }
        let devices = [
            device("default", usable, usable), device("sysdefault:CARD=PCH", usable, usable),
            device("hw:CARD=PCH,DEV=0", nil, usable), device("hw:CARD=PCH,DEV=2", usable, nil),
            device("plughw:CARD=PCH,DEV=0", usable, usable), device("hw:CARD=HDMI,DEV=3", nil, usable),
            device("hw:CARD=USB,DEV=0", usable, usable), device("hw:CARD=Busy,DEV=0", .busy, usable),
        ]
        let pairs = RoundTripExamination.pairs(of: devices, includingDefault: true)
        #expect(
            pairs.map(\.name) == ["default", "hw:CARD=PCH,DEV=0 to hw:CARD=PCH,DEV=2", "hw:CARD=USB,DEV=0"])
        #expect(RoundTripExamination.pairs(of: devices, includingDefault: false).count == 2)
        #expect(RoundTripExamination.pairs(of: [], includingDefault: false).isEmpty)
    }
}

@Suite("The doctor on a virtual card")
struct DoctorCardTests {
    /// The finding of the round trip through a card in virtual time.
    private func roundTrip(_ card: String) throws -> [String: Any] {
        let virtual = try VirtualCard(default: "vcard:ID=a,VIRTUAL=1\(card)")
        let result = try ChildProcess.run(
            ["doctor", "--quick", "--json"], environment: virtual.environment)
        #expect(result.exitCode == 0, "\(result.standardError)")
        let lines = try #require(result.json)
        #expect(lines.first { $0["subject"] as? String == "default device" }?["state"] as? String == "ok")
        return try #require(lines.first { $0["subject"] as? String == "round trip of default" })
    }

    @Test("the round trip is measured, and with it what the card does not tell of")
    func measured() throws {
        let finding = try roundTrip(",DELAY_FRAMES=96")
        #expect(finding["state"] as? String == "ok")
        let values = try #require(finding["values"] as? [String: Double])
        // Two periods of 240 frames, and the air
        #expect(abs(try #require(values["round_trip_p50_ms"]) - 12) < 0.1)
        // What it is, LoopbackProbeTests ask: libasound takes a virtual card's time stamps in real time.
        #expect(values["unreported_ms"] != nil)
        #expect(values["confidence"] == 1)
    }

    @Test("that of a microphone that is switched off is not, and never 0 ms")
    func silence() throws {
        let finding = try roundTrip(",GAIN=0")
        #expect(finding["state"] as? String == "degraded")
        #expect((finding["detail"] as? String)?.hasPrefix("not measured: the microphone gives digital silence") == true)
        let values = try #require(finding["values"] as? [String: Double])
        #expect(values["round_trip_p50_ms"] == nil && values["unreported_ms"] == nil)
        #expect(values["confidence"] == 0)
    }
}
