internal import CALSA

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
    /// The processes that capture from its card now; empty where there are none, and where the name tells of no card.
    public var captureHolders: [ALSADeviceHolder] = []
    /// The processes that play to its card now; empty where there are none, and where the name tells of no card.
    public var playbackHolders: [ALSADeviceHolder] = []
}

extension ALSADevice {
    /// All PCMs that alsa-lib's configuration shows, each opened for a moment to see what it can do. Blocks for as long
    /// as that takes: from milliseconds to a second where a sound server has to start, and 5 s for each that hangs, or 15 s
    /// where it has been slow before. Never plays or records.
    public static func list() -> [ALSADeviceDescription] {
        (ALSAHint.all() ?? []).map(ALSADeviceDescription.init(probing:))
    }

    /// The names of all PCMs with that direction, without opening any.
    static func names(_ direction: DeviceDirection) -> [String] {
        (ALSAHint.all() ?? []).filter { $0.has(direction) }.map(\.name)
    }
}

extension ALSADeviceDescription {
    /// What lies behind `hint`. Opens it for a moment; blocks, as ``ALSADevice/list()``.
    init(probing hint: ALSAHint) {
        name = hint.name
        description = hint.description
        // Before it is opened here, which would make us its holder.
        let holders = ALSADeviceHolders()
        if hint.has(.capture) {
            captureHolders = holders.of(pcm: hint.name, .capture)
            capture = Self.state(of: hint.name, .capture)
        }
        if hint.has(.playback) {
            playbackHolders = holders.of(pcm: hint.name, .playback)
            playback = Self.state(of: hint.name, .playback)
        }
    }

    private static func state(of name: String, _ direction: DeviceDirection) -> State {
        do throws(DeviceError) {
            return try ALSAOpening.run(name, direction, discard: { (_: State) in }) { () throws(DeviceError) in
                Self.opened(name, direction)
            }
        } catch {
            return .unusable(reason: "\(error)")
        }
    }

    private static func opened(_ name: String, _ direction: DeviceDirection) -> State {
        var opened: OpaquePointer?
        let code = direction == .capture ? SND_PCM_STREAM_CAPTURE : SND_PCM_STREAM_PLAYBACK
        let error = unsafe dv_pcm_open(&opened, name, code)
        guard error == 0, let pcm = unsafe opened else {
            switch DeviceError(alsa: error, name: name, step: "opening", isDenied: { SoundNodeAccess.isDenied() }) {
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
