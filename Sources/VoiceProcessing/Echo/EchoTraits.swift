/// What an ``EchoStage`` can do, and what it leaves to the processor around it.
public struct EchoTraits: Equatable, Sendable {
    /// Who does it, for a person to read: "native", "WebRTC 0.3", "none".
    public var library: String
    /// Whether there is an echo canceller at all.
    public var cancels = true
    /// Whether echo suppression has levels; if not, each level above off is the same canceller and active as `.medium`.
    public var hasLevels = false
    /// Whether it can choose the level by itself; if not, `.auto` is active as `.medium`.
    public var choosesLevel = false
    /// Whether it finds the echo by itself however late it comes, follows jumps and drift, and leaves the near end
    /// alone where there is no echo: the reference needs no re-timing.
    public var findsEcho = false
    /// Whether it removes by itself what lies below some 80 Hz.
    public var hasHighPass = false
    /// Whether it suppresses noise by itself.
    public var suppressesNoise = false
    /// Whether the near end is cared for behind it: high-pass, noise, gain, voice detection.
    public var hasNearEnd = true
    /// Whether it takes blocks of fewer than 10 ms. Only without the near end, whose stages do not.
    public var takesShortBlocks = false

    /// Traits of a canceller of one level that wants a re-timed reference and has the near end cared for behind it;
    /// change what differs.
    public init(library: String) { self.library = library }

    /// What of `requested` is done with such a stage.
    ///
    /// - Parameter neuralNoise: whether ``NeuralSuppressor`` can be had.
    func resolved(_ requested: ProcessingSettings, neuralNoise: Bool = false) -> ProcessingSettings {
        var active = requested
        if !cancels {
            active.echo = .off
        } else if requested.echo != .off, !hasLevels || (requested.echo == .auto && !choosesLevel) {
            active.echo = .medium
        }
        if !hasNearEnd {
            (active.highPass, active.noise, active.gain, active.voiceDetection) = (false, .off, .off, .off)
        }
        if !neuralNoise || active.noise == .off { active.noiseMethod = .spectral }
        return active
    }

    /// What of the active settings is left to the stages behind it.
    func leftToNearEnd(_ active: ProcessingSettings) -> ProcessingSettings {
        var settings = active
        if hasHighPass { settings.highPass = false }
        if suppressesNoise { settings.noise = .off }
        return settings
    }
}
