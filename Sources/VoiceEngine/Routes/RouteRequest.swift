internal import VoiceProcessing

/// The processing that the client requested, and what its route makes of it.
struct RouteRequest: Sendable {
    /// What the client asked for last.
    var settings: ProcessingSettings
    /// The kind of loudspeaker that the client named.
    var profile: RouteProfile
    /// The devices in use.
    var route: AudioRoute
    /// What the media thread was told last.
    var sent: ProcessingSettings

    init(_ configuration: EngineConfiguration, route: AudioRoute) {
        settings = configuration.processing
        profile = configuration.routeProfile
        self.route = route
        sent = profile.applied(to: settings, guessed: route.likelyProfile)
    }

    /// The processing that follows from both.
    var processing: ProcessingSettings { profile.applied(to: settings, guessed: route.likelyProfile) }
}
