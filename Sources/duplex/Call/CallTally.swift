import Synchronization
import VoiceEngine

/// Counts a call. Looked at again and again, because the engine forgets a talker's counts when they leave.
final class CallTally: Sendable {
    private struct State {
        var start: ContinuousClock.Instant?
        var latest: EngineStatistics?
        /// The last second of which statistics were told.
        var toldSeconds = 0
        var talkers = HeardTalkers()
        var microphone = HeardLevel()
    }

    /// How often to look: what a talker's last moments may lack in the counts.
    static let period = Duration.milliseconds(200)
    /// Frames of a microphone after which its silence is told of: 5 s, longer than devices take to begin.
    private static let patience = 240_000

    private let state = Mutex(State())

    /// The engine is in the room.
    func begin() { state.withLock { $0.start = .now } }

    func look(at engine: VoiceEngine) async {
        guard let statistics = try? await engine.statistics() else { return }
        state.withLock { state in
            state.latest = statistics
            state.microphone.add(
                level: statistics.uplink.inputLevel,
                frames: statistics.device.capture.frames - state.microphone.frames)
            state.talkers.take(
                statistics.streams.map { ($0.synchronizationSource, HeardCounts($0.playout)) })
        }
    }

    /// Whether the microphone has been heard for a second and nothing of it was sent.
    var isSilenced: Bool {
        state.withLock { state in
            guard let latest = state.latest else { return false }
            return latest.device.capture.frames > 48_000 && latest.uplink.packetsSent == 0
        }
    }

    /// Whether the microphone has given nothing but digital silence; nil before it can be told.
    var isMicrophoneSilent: Bool? {
        state.withLock { $0.microphone.frames >= Self.patience ? $0.microphone.isDead : nil }
    }

    /// Shows the meters on a terminal.
    func showProgress(isMuted: Bool, name: (ParticipantID) -> String) {
        let (start, latest) = state.withLock { ($0.start, $0.latest) }
        guard let start, let latest else { return }
        Console.progress(
            CallMeters.line(
                seconds: Int(start.duration(to: .now).components.seconds), latest, isMuted: isMuted, name: name))
    }

    /// How the call goes, once in a second; else nil.
    func takeStatistics(isMuted: Bool) -> CallStatistics? {
        state.withLock { state in
            guard let start = state.start, let latest = state.latest else { return nil }
            let seconds = start.duration(to: .now).milliseconds / 1_000
            guard Int(seconds) > state.toldSeconds else { return nil }
            state.toldSeconds = Int(seconds)
            return CallStatistics(seconds: seconds, statistics: latest, isMuted: isMuted)
        }
    }

    /// How the call went; nil where it never came to be.
    func summary(ending: String) -> CallSummary? {
        state.withLock { state in
            guard let start = state.start, let latest = state.latest else { return nil }
            return CallSummary(
                seconds: start.duration(to: .now).milliseconds / 1_000, statistics: latest, talkers: state.talkers,
                ending: ending)
        }
    }
}
