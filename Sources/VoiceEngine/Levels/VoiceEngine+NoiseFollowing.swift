internal import VoiceSignal

extension VoiceEngine {
    /// Has the loudspeaker follow the noise around the near end, below the volume that was set; nil: no more. It
    /// changes by at most 3 dB a second, and the echo reference with it. Ends when the engine stops. Needs processing
    /// that measures the noise, as that of ``ProcessingSettings/voiceChat`` does; where nothing is known of it the
    /// volume stays.
    ///
    /// - Throws: ``EngineError/invalidConfiguration(_:)``, ``EngineError/notStarted``.
    public func setNoiseFollowing(_ following: NoiseFollowing?) throws(EngineError) {
        try following?.validate()
        guard let core else { throw .notStarted }
        noiseTimer?.cancel()
        noiseTimer = nil
        noiseFollower = following.map { NoiseFollower($0) }
        applyVolume(core)
        guard following != nil else { return }
        noiseTimer = Task { [weak self] in
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.noisePeriod)
                guard let self, !Task.isCancelled else { return }
                await self.followNoise()
            }
        }
    }

    /// How often the noise is looked at.
    private static let noisePeriod = Duration.milliseconds(200)

    private func followNoise() {
        guard let core else { return }
        let uplink = core.statistics().uplink.report
        let isSounding = (uplink.referenceLevel ?? -127) > -50
        noiseFollower?.follow(noise: uplink.noiseLevel, isFarEndSounding: isSounding, elapsed: Self.noisePeriod)
        applyVolume(core)
    }

    /// Plays by the volume that was set, and below it by what the noise wants.
    func applyVolume(_ core: EngineCore) {
        core.playback.gain = outputVolume * (noiseFollower.map { amplitude(decibels: $0.decibels) } ?? 1)
    }
}
