internal import VoiceDevices

/// Other sound cards than those that are in use, by their PCMs' names; nil for what stays.
package struct DeviceSelection: Equatable, Sendable {
    package var capture: String?
    package var playback: String?

    package init(capture: String?, playback: String?) {
        self.capture = capture
        self.playback = playback
    }

    /// The choice that follows from the present one.
    func applied(to choice: DeviceChoice) throws(DeviceError) -> DeviceChoice {
        var card: ALSADeviceConfiguration
        switch choice {
        case .systemDefault: card = ALSADeviceConfiguration(RouteLegPlan.defaultName)
        case .alsa(let configuration): card = configuration
        case .custom:
            guard let capture, let playback else {
                throw .invalidConfiguration(
                    message: "the device is the client's own, in both directions; name a card for each")
            }
            return .alsa(ALSADeviceConfiguration(capture: capture, playback: playback))
        }
        if let capture {
            guard card.captureName != nil else { throw Self.notThere("microphone") }
            card.capture(from: capture)
        }
        if let playback {
            guard card.playbackName != nil else { throw Self.notThere("loudspeaker") }
            card.playbackName = playback
        }
        return .alsa(card)
    }

    private static func notThere(_ end: String) -> DeviceError {
        .invalidConfiguration(message: "the engine was started without a \(end); start it anew with one")
    }
}
