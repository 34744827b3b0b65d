internal import VoiceProcessing

extension VoiceEngine {
    /// Goes over to another preset while it runs, without a gap: what is done to the microphone, the kind of
    /// loudspeaker, bit rate, packet length and how far they follow what listeners report.
    ///
    /// What is fixed at the start stays as it was: the device and its periods, the canceller's backend, what the codec
    /// optimises for, the jitter buffer's and the media thread's margins. So an engine that is to change to
    /// ``EngineConfiguration/lowDelay`` and has the shortest way then starts as one.
    ///
    /// - Throws: ``EngineError/notStarted``, ``EngineError/overloaded``.
    public func apply(_ preset: EngineConfiguration.Preset) throws(EngineError) {
        guard let core else { throw .notStarted }
        let configuration = preset.configuration
        try core.setProcessing(configuration.processing)
        try core.setProfile(configuration.routeProfile)
        try core.send(.setSending(configuration.sending))
    }
}
