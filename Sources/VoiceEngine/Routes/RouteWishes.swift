internal import VoiceProcessing

/// What the client wishes for the microphone, and what its route makes of it.
struct RouteWishes: Sendable {
    /// What the client asked for last.
    var settings: ProcessingSettings
    /// What the client says of its loudspeaker.
    var profile: RouteProfile
    /// What way the sound takes.
    var route: AudioRoute
    /// What the media thread was told last.
    var sent: ProcessingSettings

    init(_ configuration: EngineConfiguration, route: AudioRoute) {
        settings = configuration.processing
        profile = configuration.routeProfile
        self.route = route
        sent = profile.applied(to: settings, guessed: route.likelyProfile)
    }

    /// What is to be done to the microphone.
    var processing: ProcessingSettings { profile.applied(to: settings, guessed: route.likelyProfile) }
}
