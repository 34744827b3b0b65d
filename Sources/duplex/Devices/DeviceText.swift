import VoiceEngine

extension ALSADeviceDescription {
    /// The microphone's side for people.
    var captureText: String { capture.map { $0.text(holders: captureHolders) } ?? "-" }

    /// The loudspeaker's side for people.
    var playbackText: String { playback.map { $0.text(holders: playbackHolders) } ?? "-" }
}

extension ALSADeviceDescription.State {
    /// The state for people, and who holds the device.
    fileprivate func text(holders: [ALSADeviceHolder]) -> String {
        guard !holders.isEmpty else { return text }
        let who = holders.map { "\($0.command.isEmpty ? "a process" : $0.command) (pid \($0.processID))" }
        return "\(text), held by \(who.joined(separator: ", "))"
    }

    /// The state for people.
    var text: String {
        switch self {
        case .available(let rates, let channels, let periods):
            "\(rates.text) Hz, \(channels.text) ch, period \(periods.text)"
        case .busy: "busy"
        case .permissionDenied: "no permission"
        case .unusable(let reason): "unusable: \(reason)"
        }
    }
}

extension DeviceChange {
    /// What happened, for people.
    var text: String {
        switch self {
        case .arrived(let device):
            "+ \(device.name)   capture \(device.captureText)   playback \(device.playbackText)   \(device.description)"
        case .departed(let name): "- \(name)"
        }
    }
}

extension ClosedRange<Int> {
    /// What a plugin answers that converts anything; no device's own limit lies above.
    private static var unlimited: Int { 1_000_000 }

    fileprivate var text: String {
        if lowerBound == upperBound { return "\(lowerBound)" }
        return upperBound > Self.unlimited ? "\(lowerBound) and more" : "\(lowerBound)-\(upperBound)"
    }
}
