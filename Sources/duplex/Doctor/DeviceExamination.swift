import Glibc
import VoiceEngine

/// Which sound devices open, and what stands behind `default`.
struct DeviceExamination {
    /// All that alsa-lib's configuration shows.
    let devices = ALSADevice.list()
    /// Why `default`, which the engine takes unless told otherwise, does not open in a direction; nil where it does.
    let captureFailure = Self.failure(ALSADeviceConfiguration(capture: "default", playback: nil))
    let playbackFailure = Self.failure(ALSADeviceConfiguration(capture: nil, playback: "default"))

    private static func failure(_ configuration: ALSADeviceConfiguration) -> DeviceError? {
        do throws(DeviceError) { try ALSADevice.probe(configuration) } catch { return error }
        return nil
    }

    var findings: [Finding] { [list, standard, server] + mixers }

    private static func isUsable(_ state: ALSADeviceDescription.State?) -> Bool {
        if case .available = state { true } else { false }
    }

    private var list: Finding {
        let subject = "sound devices"
        guard !devices.isEmpty else {
            return Finding(.degraded, subject, "none is listed", remedy: Self.absence)
        }
        let microphones = devices.count { Self.isUsable($0.capture) }
        let speakers = devices.count { Self.isUsable($0.playback) }
        let detail = "\(devices.count) names, of which \(microphones) can capture and \(speakers) can play now"
        let trouble = devices.flatMap { [$0.capture, $0.playback] }.contains { $0 == .permissionDenied }
        return Finding(
            trouble || microphones == 0 || speakers == 0 ? .degraded : .ok, subject,
            "\(detail); 'duplex devices' lists them",
            remedy: trouble
                ? "some may not be opened: join group audio and log in again"
                : Self.missing(microphones: microphones, speakers: speakers),
            values: ["capture": Double(microphones), "playback": Double(speakers)])
    }

    /// What to do where there is no device at all.
    private static var absence: String {
        if SystemFile.exists("/dev/snd") { return "join group audio and log in again" }
        return Finding.isContainer
            ? "start the container with --device /dev/snd --group-add audio, or call with files"
            : "plug in a sound card; 'duplex demo' and calls with files work without"
    }

    /// What to do where a direction has no device; nil where both have.
    static func missing(microphones: Int, speakers: Int) -> String? {
        guard microphones == 0 || speakers == 0 else { return nil }
        let what = microphones == 0 ? (speakers == 0 ? "sound card" : "microphone") : "loudspeaker"
        return """
            plug in a \(what), end the program that holds it, or choose the card's profile that has one in the sound \
            settings
            """
    }

    /// Whether the engine's own choice works.
    private var standard: Finding {
        let name = "default device"
        switch (captureFailure, playbackFailure) {
        case (nil, nil):
            let description = ALSADevice.description(of: "default").map { $0.isEmpty ? "" : ": \($0)" } ?? ""
            return Finding(.ok, name, "opens for capture and playback\(description)")
        case (let error?, nil):
            return Finding(
                .degraded, name, "opens for playback, but not for capture: \(error)",
                remedy: "name a microphone with --capture; 'duplex devices' lists them")
        case (nil, let error?):
            return Finding(
                .degraded, name, "opens for capture, but not for playback: \(error)",
                remedy: "name a loudspeaker with --playback; 'duplex devices' lists them")
        case (let error?, _?):
            return Finding(
                .degraded, name, "does not open: \(error)",
                remedy: "name devices with --capture and --playback, or make one the default in ~/.asoundrc")
        }
    }

    /// Cards whose mixer keeps them silent, as the kernel leaves many until somebody turns them up.
    private var mixers: [Finding] {
        let cards = devices.map(\.name).filter { $0.hasPrefix("hw:") }
        var findings: [Finding] = []
        for card in cards {
            for direction in [DeviceDirection.playback, .capture] {
                guard let silencing = ALSADevice.silencingControls(of: card, direction) else { continue }
                findings += Self.mixer(of: card, direction, silencedBy: silencing).map { [$0] } ?? []
            }
        }
        return findings
    }

    /// What is said of a card whose mixer lets nothing through; nil where it lets sound through.
    static func mixer(of card: String, _ direction: DeviceDirection, silencedBy controls: [MixerControl]) -> Finding? {
        guard let control = controls.first else { return nil }
        let names = controls.map { "'\($0.name)' is \($0.isMuted ? "muted" : "at its lowest")" }
        let number = card.dropFirst("hw:".count).split(separator: ",").first ?? "0"
        return Finding(
            .degraded, "mixer of \(card)", "\(direction) is silent: \(names.joined(separator: ", "))",
            remedy: """
                alsamixer, or: amixer -D hw:\(number) sset '\(control.name)' 80% \
                \(direction == .playback ? "unmute" : "cap")
                """)
    }

    /// Sound servers by the sockets that they listen at: below the user's run-time folder.
    private static let servers = [("PipeWire", "pipewire-0"), ("PulseAudio", "pulse/native")]

    /// What moves the sound between `default` and the card.
    private var server: Finding {
        let folder = Environment.value("XDG_RUNTIME_DIR") ?? "/run/user/\(getuid())"
        let running = Self.servers.filter { SystemFile.exists("\(folder)/\($0.1)") }.map(\.0)
        var standard = DefaultCard()
        return Self.server(behind: standard.look(), running: running, opens: playbackFailure == nil)
    }

    static func server(behind meaning: DefaultCard.Meaning?, running: [String], opens: Bool) -> Finding {
        let subject = "sound server"
        let names = running.joined(separator: " and ")
        switch meaning {
        case .server(let type):
            if opens {
                return Finding(
                    .ok, subject,
                    "'default' goes through its plugin '\(type)'\(running.isEmpty ? "" : " to \(names)"); its buffers add to the latency"
                )
            }
            return Finding(
                .degraded, subject, "'default' goes through the plugin '\(type)', and does not open",
                remedy: running.isEmpty
                    ? "start it: systemctl --user start \(type == "pulse" ? "pulseaudio or pipewire-pulse" : type)"
                    : "install the ALSA plugin of \(names)")
        case .card(let identifier) where !running.isEmpty:
            return Finding(
                opens ? .ok : .degraded, subject,
                "\(names) runs, and 'default' goes to \(identifier.map { "card \($0)" } ?? "a card") without it: whoever comes first holds the card",
                remedy: opens
                    ? nil : "install pipewire-alsa, or libasound2-plugins for PulseAudio, so that 'default' is shared")
        case .card(let identifier):
            return Finding(
                .ok, subject, "none; 'default' is \(identifier.map { "card \($0)" } ?? "a card that is not there")")
        case .other(let name):
            return Finding(
                .ok, subject, "\(running.isEmpty ? "none" : names + " runs"); 'default' is the PCM '\(name)'")
        case nil:
            return Finding(
                .degraded, subject, "alsa-lib's configuration cannot be read",
                remedy: "install libasound2-data, or correct /etc/asound.conf and ~/.asoundrc")
        }
    }
}
