/// Notices a microphone that has given nothing but digital silence since a call began: one that is switched off.
struct MicrophoneWatch {
    /// Looks in a row after which it is told: 5 s, longer than devices take to begin.
    static let patience = 25
    /// No microphone that is on is so quiet, dBFS.
    static let floor: Float = -120

    private var silentLooks = 0
    private var hasHeard = false

    /// Takes note of the level of the last block, dBFS, of `frames` frames in all.
    mutating func look(level: Float, frames: Int) {
        guard frames > 0 else { return }
        if level > Self.floor { hasHeard = true }
        silentLooks += 1
    }

    var isDead: Bool { !hasHeard && silentLooks >= Self.patience }
}
