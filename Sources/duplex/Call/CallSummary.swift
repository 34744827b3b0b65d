import VoiceEngine

/// How a call went.
struct CallSummary: JSONLine {
    let schema = "duplexvoice.call/1"
    let type = "summary"
    var ending: String
    var seconds: Double
    var packetsSent: Int
    var packetsReceived: Int
    var packetsLost: Int
    var concealedRatio: Double?
    var xruns: Int
    var underrunFrames: Int
    var roundTripMs: Double?
    /// From the microphone to the network, the codec's frame included.
    var microphoneToNetworkMs: Double?
    /// Mean time in the jitter buffer.
    var jitterBufferMs: Double?
    /// From the jitter buffer to the loudspeaker.
    var pullToSpeakerMs: Double?
    /// Everyone that was heard, by synchronization source.
    var talkers: [Talker]

    /// How one talker was heard.
    struct Talker: Encodable {
        var synchronizationSource: UInt32
        var packetsReceived: Int
        var packetsLost: Int
        var concealedRatio: Double?

        init(_ stream: EngineStatistics.Stream) {
            synchronizationSource = stream.synchronizationSource
            packetsReceived = Int(stream.playout.packetsReceived)
            packetsLost = Int(stream.playout.packetsLost)
            concealedRatio = [stream].concealedRatio
        }
    }

    init(seconds: Double, statistics: EngineStatistics, talkers: [EngineStatistics.Stream], ending: String) {
        self.ending = ending
        self.seconds = seconds.rounded(toPlaces: 3)
        packetsSent = statistics.uplink.packetsSent
        packetsReceived = talkers.reduce(0) { $0 + Int($1.playout.packetsReceived) }
        packetsLost = talkers.reduce(0) { $0 + Int($1.playout.packetsLost) }
        let emitted = talkers.reduce(0) { $0 + Int($1.playout.jitterBufferEmittedCount) }
        concealedRatio = talkers.concealedRatio
        xruns = statistics.device.capture.xruns + statistics.device.playback.xruns
        underrunFrames = statistics.device.playback.underrunFrames
        roundTripMs = statistics.room?.session.roundTripTime?.milliseconds
        microphoneToNetworkMs = statistics.latency.microphoneToNetwork?.milliseconds
        let waited = talkers.reduce(0.0) { $0 + $1.playout.jitterBufferDelay }
        jitterBufferMs = emitted == 0 ? nil : waited / Double(emitted) * 1_000
        pullToSpeakerMs = statistics.latency.pullToSpeaker?.milliseconds
        self.talkers = talkers.map(Talker.init).sorted { $0.synchronizationSource < $1.synchronizationSource }
    }

    /// The summary for people.
    var text: String {
        "call ended (\(ending)) after \(seconds.rounded(toPlaces: 1)) s: sent \(packetsSent) packets, received \(packetsReceived), "
            + "lost \(packetsLost), xruns \(xruns)"
    }
}

extension [EngineStatistics.Stream] {
    /// The share of all played speech that had to be invented; nil before any.
    var concealedRatio: Double? {
        let emitted = reduce(0) { $0 + Int($1.playout.jitterBufferEmittedCount) }
        let concealed = reduce(0) { $0 + Int($1.playout.concealedSamples) }
        return emitted + concealed == 0 ? nil : Double(concealed) / Double(emitted + concealed)
    }
}
