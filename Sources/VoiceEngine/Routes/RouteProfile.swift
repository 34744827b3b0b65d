internal import VoiceProcessing

/// What kind of loudspeaker the far end comes out of, which decides what the echo canceller has to do.
///
/// Behind a loudspeaker the canceller is needed. In a headset there is next to nothing to cancel, and a canceller that
/// runs all the same damages the voice while both speak.
public enum RouteProfile: String, CaseIterable, Sendable {
    /// By the device's name: a headset where it has one of ``headsetWords`` and none of ``speakerWords``; else a
    /// loudspeaker. Names are all there is to go by, and a name may mislead: set the profile where you know better.
    case automatic
    /// Headphones or a headset: the canceller is transparent.
    case headset
    /// Loudspeakers: the canceller that the settings ask for; where they ask for none, that of
    /// ``ProcessingSettings/voiceChat``.
    case speaker

    /// What the names of headsets contain, in small letters. `bluez`, `bluealsa` and `hands-free` are what Bluetooth's
    /// profiles with a microphone are called, which are worn more often than they stand on a table.
    public static let headsetWords = [
        "headset", "headphone", "earphone", "earbud", "airpod", "hands-free", "handsfree", "bluez", "bluealsa",
    ]

    /// What the names of loudspeakers contain that one of ``headsetWords`` may also be in: "Bluetooth hands-free
    /// speakerphone".
    public static let speakerWords = ["speaker", "conference", "soundbar"]

    /// What a device of these names is: `.headset` or `.speaker`. Pure.
    public static func guess(_ names: String...) -> RouteProfile {
        let text = names.joined(separator: " ").lowercased()
        // String's own `contains` would link the library of regular expressions, over 1 MB.
        func has(_ word: String) -> Bool { text.indices.contains { text[$0...].hasPrefix(word) } }
        guard !speakerWords.contains(where: has) else { return .speaker }
        return headsetWords.contains(where: has) ? .headset : .speaker
    }
}

extension RouteProfile {
    /// What is done to the microphone when the client requests `settings` and the loudspeaker is found to be
    /// `guessed`.
    ///
    /// The one place where a route's kind becomes a canceller's. A guess only takes the canceller away, and never adds
    /// one that was not asked for.
    func applied(to settings: ProcessingSettings, guessed: RouteProfile) -> ProcessingSettings {
        var applied = settings
        switch (self, guessed) {
        case (.headset, _), (.automatic, .headset): applied.echo = .off
        case (.speaker, _): if settings.echo == .off { applied.echo = ProcessingSettings.voiceChat.echo }
        case (.automatic, _): break
        }
        return applied
    }
}
