internal import VoiceEngine
internal import VoiceSimulation

extension SimulatedCall {
    /// A call by which told positions of utterances are judged: side A says `said` without processing, over 5 % loss
    /// and 60 ± 20 ms of jitter, to side B, whose loudspeaker drifts by 150 ppm unless the seed is a multiple of three.
    package static func ofUtterances(_ said: [Float], seconds: Int, seed: UInt64) throws -> SimulatedCall {
        var configuration = Configuration(talkers: [
            SpeechSource(said, repetition: .once), SpeechSource([], repetition: .once),
        ])
        configuration.rooms = [RoomConditions(), RoomConditions()]
        configuration.engine.backend = .bypass
        configuration.engine.processing = .bypass
        configuration.engine.encoder.bitratePerSecond = 64_000
        configuration.seed = seed
        configuration.longest = .seconds(seconds)
        configuration.publishing = .anyone
        configuration.playbackDriftPPM = [0, seed % 3 == 0 ? 0 : 150]
        let call = try SimulatedCall(configuration)
        var network = NetworkConditions.perfect
        network.baseDelay = .milliseconds(20)
        network.jitter = .gaussian(mean: .milliseconds(60), deviation: .milliseconds(20))
        network.loss = .bursts(0.05, meanBurst: 1.3)
        try call.setNetwork(network, .b)
        return call
    }
}
