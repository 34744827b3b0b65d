/// One control of a sound card's mixer, as far as it decides whether anything is heard.
package struct MixerControl: Equatable, Sendable {
    /// As the driver calls it, such as `Master`, `Headphone` or `Capture`.
    package var name: String
    /// Which way the sound goes that it changes.
    package var direction: DeviceDirection
    /// Its switch is off on all channels.
    package var isMuted: Bool
    /// Its volume is as low as it goes on all channels.
    package var isAtMinimum: Bool

    package init(_ name: String, _ direction: DeviceDirection, isMuted: Bool = false, isAtMinimum: Bool = false) {
        self.name = name
        self.direction = direction
        self.isMuted = isMuted
        self.isAtMinimum = isAtMinimum
    }

    /// It lets no sound through.
    package var isSilent: Bool { isMuted || isAtMinimum }
}

extension MixerControl {
    /// Controls that everything passes: one of them alone can silence a card. Drivers name them alike; see
    /// `Documentation/sound/designs/control-names.rst` of the Linux kernel.
    private static let common: [DeviceDirection: Set<String>] = [
        .playback: ["Master", "PCM", "Digital", "Wave", "Master Mono"],
        .capture: ["Capture", "ADC", "Digital Capture"],
    ]
    /// Controls of one connector each: a card is silent when all that it has are.
    private static let connectors: [DeviceDirection: Set<String>] = [
        .playback: ["Speaker", "Headphone", "Front", "Line Out", "Headset", "Headphone+LO", "Speaker+LO"],
        .capture: ["Mic", "Internal Mic", "Front Mic", "Rear Mic", "Headset Mic", "Headset", "Dmic0", "Line"],
    ]

    /// Those of a card's controls that keep it silent in a direction; none where sound can pass.
    package static func silencing(_ controls: [MixerControl], _ direction: DeviceDirection) -> [MixerControl] {
        let own = controls.filter { $0.direction == direction }
        let common = own.filter { Self.common[direction, default: []].contains($0.name) && $0.isSilent }
        let connectors = own.filter { Self.connectors[direction, default: []].contains($0.name) }
        return connectors.allSatisfy(\.isSilent) ? common + connectors : common
    }
}
