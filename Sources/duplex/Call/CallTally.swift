import Synchronization
import VoiceEngine

/// Counts a call. Looked at again and again, because the engine forgets a talker's counts when they leave.
final class CallTally: Sendable {
    private struct State {
        var start: ContinuousClock.Instant?
        var latest: EngineStatistics?
        /// Each talker's last counts, by synchronization source.
        var talkers: [UInt32: EngineStatistics.Stream] = [:]
    }

    /// How often to look: what a talker's last moments may lack in the counts.
    static let period = Duration.milliseconds(200)

    private let state = Mutex(State())

    /// The engine is in the room.
    func begin() { state.withLock { $0.start = .now } }

    func look(at engine: VoiceEngine) async {
        guard let statistics = try? await engine.statistics() else { return }
        state.withLock { state in
            state.latest = statistics
            for stream in statistics.streams { state.talkers[stream.synchronizationSource] = stream }
        }
    }

    /// Whether the microphone has been heard for a second and nothing of it was sent.
    var isSilenced: Bool {
        state.withLock { state in
            guard let latest = state.latest else { return false }
            return latest.device.capture.frames > 48_000 && latest.uplink.packetsSent == 0
        }
    }

    func showProgress() {
        let (start, latest) = state.withLock { ($0.start, $0.latest) }
        guard let start, let uplink = latest?.uplink else { return }
        let seconds = Int(start.duration(to: .now).components.seconds)
        let pad = seconds % 60 < 10 ? "0" : ""
        let level = Int(max(uplink.outputLevel, -99))
        Console.progress(
            "\(seconds / 60):\(pad)\(seconds % 60)   you: \(level) dBFS\(uplink.voiceActivity ? ", speaking" : "")")
    }

    /// How the call went; nil where it never came to be.
    func summary(ending: String) -> CallSummary? {
        state.withLock { state in
            guard let start = state.start, let latest = state.latest else { return nil }
            return CallSummary(
                seconds: start.duration(to: .now).milliseconds / 1_000, statistics: latest,
                talkers: Array(state.talkers.values),
                ending: ending)
        }
    }
}

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
