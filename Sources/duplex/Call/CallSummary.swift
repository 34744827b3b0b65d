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
    /// Everyone that was heard, by synchronization source; of more than ``HeardTalkers/limit`` those who were heard most.
    var talkers: [Talker]

    /// How one talker was heard.
    struct Talker: Encodable {
        var synchronizationSource: UInt32
        var packetsReceived: Int
        var packetsLost: Int
        var concealedRatio: Double?

        init(_ source: UInt32, _ counts: HeardCounts) {
            synchronizationSource = source
            packetsReceived = counts.packetsReceived
            packetsLost = counts.packetsLost
            concealedRatio = counts.concealedRatio
        }
    }

    init(seconds: Double, statistics: EngineStatistics, talkers: HeardTalkers, ending: String) {
        let heard = talkers.all
        self.ending = ending
        self.seconds = seconds.rounded(toPlaces: 3)
        packetsSent = statistics.uplink.packetsSent
        packetsReceived = heard.packetsReceived
        packetsLost = heard.packetsLost
        concealedRatio = heard.concealedRatio
        xruns = statistics.device.capture.xruns + statistics.device.playback.xruns
        underrunFrames = statistics.device.playback.underrunFrames
        roundTripMs = statistics.room?.session.roundTripTime?.milliseconds
        microphoneToNetworkMs = statistics.latency.microphoneToNetwork?.milliseconds
        jitterBufferMs = heard.emitted == 0 ? nil : heard.waited / Double(heard.emitted) * 1_000
        pullToSpeakerMs = statistics.latency.pullToSpeaker?.milliseconds
        self.talkers = talkers.each.map { Talker($0.source, $0.counts) }
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
        reduce(HeardCounts()) { $0 + HeardCounts($1.playout) }.concealedRatio
    }
}
