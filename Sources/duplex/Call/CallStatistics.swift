import VoiceEngine

/// How a call goes, once a second.
struct CallStatistics: JSONLine {
    let schema = "duplexvoice.call/1"
    let type = "statistics"
    var seconds: Double
    /// What is sent of the microphone, dBFS, and whether somebody speaks there.
    var outputLevelDb: Double
    var speaking: Bool
    var muted: Bool
    var packetsSent: Int
    var packetsReceived: Int
    var packetsLost: Int
    var concealedRatio: Double?
    var roundTripMs: Double?
    var echoReturnLossEnhancementDb: Double?
    var xruns: Int
    /// Of the processor's time, the media thread's.
    var mediaCpuRatio: Double?
    /// Everyone that is heard, by synchronization source.
    var talkers: [Talker]

    /// How one talker is heard now.
    struct Talker: Encodable {
        var participant: UInt32?
        var synchronizationSource: UInt32
        /// As its packets say, dBFS.
        var levelDb: Int?
        var jitterMs: Double?
        var jitterBufferMs: Double?
        var packetsLost: Int

        init(_ stream: EngineStatistics.Stream) {
            participant = stream.participant?.rawValue
            synchronizationSource = stream.synchronizationSource
            levelDb = stream.audioLevel.map { -Int($0) }
            jitterMs = stream.jitter?.milliseconds
            jitterBufferMs = stream.jitterBufferDelay?.milliseconds
            packetsLost = Int(stream.playout.packetsLost)
        }
    }

    init(seconds: Double, statistics: EngineStatistics, isMuted: Bool) {
        self.seconds = seconds.rounded(toPlaces: 3)
        outputLevelDb = Double(max(statistics.uplink.outputLevel, -127)).rounded(toPlaces: 1)
        speaking = statistics.uplink.voiceActivity
        muted = isMuted
        packetsSent = statistics.uplink.packetsSent
        packetsReceived = statistics.streams.reduce(0) { $0 + Int($1.playout.packetsReceived) }
        packetsLost = statistics.streams.reduce(0) { $0 + Int($1.playout.packetsLost) }
        concealedRatio = statistics.streams.concealedRatio
        roundTripMs = statistics.room?.session.roundTripTime?.milliseconds
        echoReturnLossEnhancementDb = statistics.uplink.echoReturnLossEnhancement.map {
            Double($0).rounded(toPlaces: 1)
        }
        xruns = statistics.device.capture.xruns + statistics.device.playback.xruns
        mediaCpuRatio =
            seconds > 0 ? (statistics.media.cpuTime.milliseconds / 1_000 / seconds).rounded(toPlaces: 4) : nil
        talkers = statistics.streams.map(Talker.init).sorted { $0.synchronizationSource < $1.synchronizationSource }
    }
}

/// Meters of everybody in a call, for a terminal's last line.
enum CallMeters {
    /// From -60 dBFS to full scale.
    static func bar(_ level: Float, width: Int = 8) -> String {
        let full = min(max(Int((level + 60) / 60 * Float(width) + 0.5), 0), width)
        return String(repeating: "▮", count: full) + String(repeating: "▯", count: width - full)
    }

    /// Who says something louder than this is told to speak, dBFS.
    static let speaking: Float = -45
    /// As many talkers have a place in a line.
    static let places = 3

    /// The line: the time, this end, and the loudest of the others.
    static func line(
        seconds: Int, _ statistics: EngineStatistics, isMuted: Bool, name: (ParticipantID) -> String
    ) -> String {
        let pad = seconds % 60 < 10 ? "0" : ""
        let uplink = statistics.uplink
        let own = isMuted ? "muted" : "\(bar(uplink.outputLevel))\(uplink.voiceActivity ? " speaking" : "")"
        let talkers = statistics.streams.compactMap { stream -> (name: String, level: Float)? in
            guard let talker = stream.participant, let level = stream.audioLevel else { return nil }
            return (name(talker), -Float(level))
        }
        let loudest = talkers.sorted { ($1.level, $0.name) < ($0.level, $1.name) }.prefix(places)
        let others = loudest.map { "   \($0.name) \(bar($0.level))\($0.level > speaking ? " speaking" : "")" }
        return "\(seconds / 60):\(pad)\(seconds % 60)   you \(own)\(others.joined())"
    }
}
