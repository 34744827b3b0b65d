/// What a room gets of a muted engine. It is told of the muting either way, and the echo canceller goes on learning.
public enum MuteKind: UInt8, BitwiseCopyable, CaseIterable, Sendable {
    /// Nothing: behind the fade and 20 ms of silence, in which listeners' decoders come to rest, no packet is sent.
    case stop
    /// Silence, packet after packet, as if nobody spoke: for receivers that take a missing stream for a fault, such as
    /// recorders.
    case silence
    /// A packet of silence each second: for paths and receivers that forget who says nothing.
    case keepAlive
}

/// Which packets of a muted stream are sent all the same.
struct MuteSchedule: BitwiseCopyable {
    /// Between two packets that keep a stream alive: 1 s at 48 kHz. Shorter than the shortest time for which network
    /// address translation remembers a path that is in use, 2 min (RFC 4787, REQ-5), and than the 2 s after which a
    /// listener calls a stream stalled.
    static let keepAliveFrames = 48_000

    var kind = MuteKind.stop
    private var unsent = 0

    /// Whether a muted packet of so many frames is sent.
    mutating func sends(_ frames: Int) -> Bool {
        switch kind {
        case .stop: return false
        case .silence: return true
        case .keepAlive:
            unsent += frames
            guard unsent >= Self.keepAliveFrames else { return false }
            unsent = 0
            return true
        }
    }
}
