internal import VoiceDevices

/// One sound card's part in a route: what is opened together, lost together, and opened again together.
///
/// A headset is one leg of both directions. A microphone and a loudspeaker of different names are two, so that the loss
/// of one does not disturb the other; and so they are behind a sound server, which has one device for each under the
/// same name.
struct RouteLegPlan: Sendable {
    /// What the leg is used for.
    let directions: [DeviceDirection]
    /// What the chosen device is called.
    let name: String
    /// What the engine does when the device is lost.
    let policy: RoutePolicy
    /// A device of the client's own; nil for ``card``.
    var custom: (any AudioDevice)?
    /// How a sound card is opened, whether the chosen one or `default`.
    let card: ALSADeviceConfiguration

    /// ALSA's name for the device that the system's user has chosen.
    static let defaultName = "default"

    /// The legs of a choice. A policy that is not given is ``RoutePolicy/followDefault`` for `default`,
    /// ``RoutePolicy/pinned`` for another PCM, and ``RoutePolicy/fixed`` for a device of the client's own. `isServed`
    /// says whether a PCM is a sound server's.
    static func legs(
        of choice: DeviceChoice, policy: RoutePolicy?, isServed: (String) -> Bool = { _ in false }
    ) -> [RouteLegPlan] {
        switch choice {
        case .systemDefault: return legs(of: ALSADeviceConfiguration(defaultName), policy, isServed)
        case .alsa(let configuration): return legs(of: configuration, policy, isServed)
        case .custom(let device):
            return [
                RouteLegPlan(
                    directions: [.capture, .playback], name: "custom", policy: policy ?? .fixed, custom: device,
                    card: ALSADeviceConfiguration(defaultName))
            ]
        }
    }

    private static func legs(
        of card: ALSADeviceConfiguration, _ policy: RoutePolicy?, _ isServed: (String) -> Bool
    ) -> [RouteLegPlan] {
        let (capture, playback) = (card.captureName, card.playbackName)
        if let capture, let playback, capture != playback || isServed(capture) {
            var (left, right) = (card, card)
            left.captureName = nil
            left.captureChannels = ALSADeviceConfiguration().captureChannels
            right.playbackName = nil
            return [leg(left, [.playback], policy), leg(right, [.capture], policy)]
        }
        let directions = [capture.map { _ in DeviceDirection.capture }, playback.map { _ in .playback }]
        return [leg(card, directions.compactMap(\.self), policy)]
    }

    private static func leg(
        _ card: ALSADeviceConfiguration, _ directions: [DeviceDirection], _ policy: RoutePolicy?
    ) -> RouteLegPlan {
        let name = card.playbackName ?? card.captureName ?? ""
        return RouteLegPlan(
            directions: directions, name: name, policy: policy ?? (name == defaultName ? .followDefault : .pinned),
            card: card)
    }

    /// Whether a leg of this plan may go on under the other.
    func isSame(as other: RouteLegPlan) -> Bool {
        custom == nil && other.custom == nil && directions == other.directions && policy == other.policy
            && card == other.card
    }

    /// A device at rest.
    func make(_ target: RouteMachine.Target, _ environment: RouteEnvironment) -> any AudioDevice {
        if target == .chosen, let custom { return custom }
        return environment.makeCard(configuration(of: target))
    }

    /// Throws where the device surely cannot be opened now. A device of the client's own is not asked.
    func probe(_ target: RouteMachine.Target, _ environment: RouteEnvironment) throws(DeviceError) {
        if target == .chosen, custom != nil { return }
        try environment.probe(configuration(of: target))
    }

    private func configuration(of target: RouteMachine.Target) -> ALSADeviceConfiguration {
        var configuration = card
        guard target == .systemDefault else { return configuration }
        if configuration.captureName != nil { configuration.capture(from: Self.defaultName) }
        if configuration.playbackName != nil { configuration.playbackName = Self.defaultName }
        return configuration
    }
}

extension ALSADeviceConfiguration {
    /// Takes another card for the microphone. The channels that were chosen are those of the one before.
    mutating func capture(from name: String) {
        guard name != captureName else { return }
        captureName = name
        captureChannels = ALSADeviceConfiguration().captureChannels
    }
}
