internal import CALSA

#if canImport(Glibc)
    internal import Glibc
#endif

/// A sound card's entry in the list of devices.
public struct ALSADeviceDescription: Equatable, Sendable {
    /// Whether a direction of the device can be used now, and with what.
    public enum State: Equatable, Sendable {
        /// It opens.
        case available(sampleRates: ClosedRange<Int>, channels: ClosedRange<Int>, periodFrames: ClosedRange<Int>)
        /// Another stream holds it.
        case busy
        /// The process may not open it.
        case permissionDenied
        /// It does not open, for this reason.
        case unusable(reason: String)
    }

    /// The name to give to ``ALSADeviceConfiguration``.
    public var name: String
    /// What alsa-lib calls it, on one line; empty where it says nothing.
    public var description: String
    /// Nil where the device has no such direction.
    public var capture: State?
    /// Nil where the device has no such direction.
    public var playback: State?
}

extension ALSADevice {
    /// All PCMs that alsa-lib's configuration shows, each opened for a moment to see what it can do. Blocks for as long
    /// as that takes: from milliseconds to a second where a sound server has to start. Never plays or records.
    public static func list() -> [ALSADeviceDescription] {
        hints().map { hint in
            var entry = ALSADeviceDescription(name: hint.name, description: hint.description)
            if hint.has(.capture) { entry.capture = state(of: hint.name, .capture) }
            if hint.has(.playback) { entry.playback = state(of: hint.name, .playback) }
            return entry
        }
    }

    /// The names of all PCMs with that direction, without opening any.
    static func names(_ direction: DeviceDirection) -> [String] {
        hints().filter { $0.has(direction) }.map(\.name)
    }

    private struct Hint {
        let name: String
        let description: String
        let direction: DeviceDirection?

        func has(_ wanted: DeviceDirection) -> Bool { direction == nil || direction == wanted }
    }

    private static func hints() -> [Hint] {
        var list: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
        guard unsafe dv_pcm_hints(&list) == 0, let hints = unsafe list else { return [] }
        defer { unsafe snd_device_name_free_hint(hints) }
        var found: [Hint] = []
        var position = 0
        while let hint = unsafe hints[position] {
            position += 1
            guard let name = unsafe text(hint, "NAME"), name != "null" else { continue }
            let direction: DeviceDirection? =
                switch unsafe text(hint, "IOID") {
                case "Input": .capture
                case "Output": .playback
                default: nil
                }
            let description = unsafe text(hint, "DESC") ?? ""
            found.append(
                Hint(
                    name: name, description: description.split(separator: "\n").joined(separator: ", "),
                    direction: direction))
        }
        return found
    }

    private static func text(_ hint: UnsafeMutableRawPointer, _ key: String) -> String? {
        guard let value = unsafe snd_device_name_get_hint(hint, key) else { return nil }
        defer { unsafe free(value) }
        return unsafe String(cString: value)
    }

    private static func state(of name: String, _ direction: DeviceDirection) -> ALSADeviceDescription.State {
        var opened: OpaquePointer?
        let code = direction == .capture ? SND_PCM_STREAM_CAPTURE : SND_PCM_STREAM_PLAYBACK
        let error = unsafe dv_pcm_open(&opened, name, code)
        guard error == 0, let pcm = unsafe opened else {
            switch DeviceError(alsa: error, name: name, step: "opening", available: { [] }) {
            case .busy: return .busy
            case .permissionDenied: return .permissionDenied
            default: return .unusable(reason: alsaReason(error))
            }
        }
        defer { unsafe snd_pcm_close(pcm) }
        guard let offers = unsafe ALSACapabilities(pcm) else { return .unusable(reason: "it tells nothing of itself") }
        return .available(sampleRates: offers.rates, channels: offers.channels, periodFrames: offers.periods)
    }
}
