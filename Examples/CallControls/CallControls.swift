import VoiceEngine

/// What the buttons of a call's window do. All of it while the call goes on, without a gap in what is heard.
struct CallControls: Sendable {
    let engine: VoiceEngine

    // MARK: This side's sound

    /// What the call is for: everything that a preset sets and that can change while it runs.
    func choose(_ preset: EngineConfiguration.Preset) async throws { try await engine.apply(preset) }

    /// How much of the room is heard behind the talker: a suppressor for a street, none for a violin. The rest stays as
    /// the preset has it that was chosen.
    func suppressNoise(
        _ level: ProcessingSettings.NoiseSuppression, in preset: EngineConfiguration.Preset
    ) async throws {
        var settings = preset.configuration.processing
        settings.noise = level
        try await engine.setProcessing(settings)
    }

    /// For sound cards whose names do not tell headphones from loudspeakers: the canceller is transparent in the former.
    func wearHeadset(_ isWorn: Bool) async throws { try await engine.setRouteProfile(isWorn ? .headset : .speaker) }

    /// Another microphone or loudspeaker, by the names that `duplex devices` prints. Where it does not open, the call
    /// goes on with what it had, and this says why not.
    func use(microphone: String? = nil, loudspeaker: String? = nil) async -> String? {
        do {
            try await engine.selectDevices(capture: microphone, playback: loudspeaker)
            return nil
        } catch { return "\(error)" }
    }

    /// The loudspeaker's volume, 0 to 100 %.
    func setVolume(percent: Int) async throws {
        try await engine.setOutputVolume(Float(min(max(percent, 0), 100)) / 100)
    }

    // MARK: What is sent

    /// Says nothing for a while. The stream stays: others see a mute, and it is not taken for a bad line.
    func mute(_ isMuted: Bool) async throws { try await engine.setMuted(isMuted, as: .keepAlive) }

    /// Takes the microphone out of the room, or puts it back: while it is out, nothing of it is there to be played.
    func share(_ isShared: Bool) async throws {
        if isShared { try await engine.publish() } else { await engine.unpublish() }
    }

    // MARK: The others

    /// Hears somebody, or does not.
    func hear(_ who: ParticipantID, _ isHeard: Bool) async throws {
        if isHeard { try await engine.play(who) } else { try await engine.stopPlaying(who) }
    }

    /// Has an agent give way to whoever speaks here: 18 dB quieter at once, silent when they go on, over when they mean
    /// it; off: it is heard to its end.
    func mayInterrupt(_ agent: ParticipantID, _ may: Bool) async throws {
        var stages = BargeInStages()
        stages.duckDecibels = 18
        try await engine.setBargeIn(may ? .staged(stages) : .off, for: agent)
    }

    /// A recogniser has understood words: who speaks means it.
    func understood() async throws { try await engine.confirmBargeIn() }

    /// The stop button: nothing more of what somebody says is heard. Returns how much of it was, and within what.
    func stop(_ who: ParticipantID) async throws -> HeardUtterance? {
        try await engine.interrupt(who, awaitingReceiptsFor: .seconds(2)).first?.heard
    }

    /// The next `seconds` of what is heard of one participant alone, for a recogniser: 16 kHz, mono.
    func excerpt(of who: ParticipantID, seconds: Double) async throws -> [Float] {
        let sink = try await engine.openSink(of: who)
        defer { sink.close() }
        var excerpt: [Float] = []
        for await frame in sink.frames() {
            excerpt += frame.samples
            if Double(excerpt.count) >= seconds * 16_000 { break }
        }
        return excerpt
    }

    /// Hangs up. The engine runs on, for the next call.
    func hangUp() async { await engine.leave() }
}
