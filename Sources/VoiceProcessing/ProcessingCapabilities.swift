/// What a backend can do: the difference between requested and active settings, known beforehand.
public struct ProcessingCapabilities: Equatable, Sendable {
    /// The library behind the backend, for a person to read: "WebRTC 0.3", "WebRTC AEC3", "none".
    public var library: String
    /// Whether there is an echo canceller at all.
    public var echo: Bool
    /// Whether echo suppression has levels; if not, each level above off is the same canceller and active as `.medium`.
    public var echoLevels: Bool
    /// Whether it can choose the level by itself; if not, `.auto` is active as `.medium`.
    public var echoChoice = false
    /// Whether the filter's length can be chosen.
    public var extendedFilter: Bool
    /// Whether the library's own delay search can be chosen; if not and `delayOptional`, it always searches.
    public var delayAgnosticOption: Bool
    /// Whether the canceller works without being told the delay.
    public var delayOptional: Bool
    /// Whether it finds the echo by itself however late it comes, follows jumps and drift, and leaves the near end alone where there is
    /// no echo: the reference needs no re-timing.
    public var findsEcho: Bool
    /// Whether the near end is cared for behind the canceller: high-pass, noise, gain, voice detection, with all their settings.
    public var nearEnd: Bool
    /// Whether ``NeuralSuppressor`` can be chosen: RNNoise is installed, and the rate is 48 kHz.
    public var neuralNoise = false

    /// What of `requested` such a backend will do.
    public func resolved(_ requested: ProcessingSettings) -> ProcessingSettings {
        var active = requested
        if !echo {
            active.echo = .off
        } else if requested.echo != .off, !echoLevels || (requested.echo == .auto && !echoChoice) {
            active.echo = .medium
        }
        if active.echo == .off {
            active.extendedFilter = false
            active.delayAgnostic = false
        } else {
            active.extendedFilter = requested.extendedFilter && extendedFilter
            active.delayAgnostic = delayAgnosticOption ? requested.delayAgnostic : delayOptional
        }
        if !nearEnd {
            (active.highPass, active.noise, active.gain, active.voiceDetection) = (false, .off, .off, .off)
        }
        if !neuralNoise || active.noise == .off { active.noiseMethod = .spectral }
        return active
    }
}
