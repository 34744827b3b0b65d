public import VoiceDevices

/// The way that the sound takes through the machine: which devices, with which formats.
public struct AudioRoute: Equatable, Sendable {
    /// One end of it.
    public struct End: Equatable, Sendable {
        /// The PCM's name, such as `hw:CARD=PCH`; `custom` for a device of the client's own.
        public var name: String
        /// What the device calls itself; empty where it does not tell.
        public var description: String
        /// What it runs with; nil while it is lost.
        public var format: NegotiatedFormat?

        /// An end.
        package init(name: String, description: String = "", format: NegotiatedFormat?) {
            self.name = name
            self.description = description
            self.format = format
        }
    }

    /// The microphone; nil where the engine has none.
    public var capture: End?
    /// The loudspeaker; nil where the engine has none.
    public var playback: End?
    /// What kind of loudspeaker its name tells of, `.headset` or `.speaker`: what ``RouteProfile/automatic`` goes by.
    public var likelyProfile: RouteProfile

    /// A route.
    package init(capture: End?, playback: End?, likelyProfile: RouteProfile) {
        self.capture = capture
        self.playback = playback
        self.likelyProfile = likelyProfile
    }
}

/// A device that has gone away under the engine.
public struct DeviceLoss: Equatable, Sendable {
    /// The name it was opened by, as ``AudioRoute/End/name``.
    public var name: String
    /// What it was used for.
    public var directions: [DeviceDirection]
    /// Why: ``DeviceError/disconnected(name:)`` where it was pulled out.
    public var reason: DeviceError
    /// What the engine does about it.
    public var policy: RoutePolicy

    /// A loss.
    package init(name: String, directions: [DeviceDirection], reason: DeviceError, policy: RoutePolicy) {
        self.name = name
        self.directions = directions
        self.reason = reason
        self.policy = policy
    }
}

/// Why a route is another one now.
public enum RouteChange: String, Equatable, Sendable {
    /// A lost device is back. Its formats may be others than before.
    case reopened
    /// The sound goes through ALSA's `default` now.
    case movedToDefault
    /// The client has selected it; see ``VoiceEngine/selectDevices(capture:playback:)``.
    case selected
}
