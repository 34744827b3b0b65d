/// Where sound is tapped on its way through the engine; see ``VoiceEngine/openTap(at:rate:)``.
public enum SoundPoint: UInt8, CaseIterable, Sendable {
    /// What the microphone captured, as the device gave it, echo and all.
    case captured = 1
    /// The microphone behind echo canceller, noise suppressor and gain control; also while muted and while the gate of
    /// a conversation is closed.
    case processed = 2
    /// What a room gets: ``processed``, silent while muted, and gaps while the gate is closed.
    case sent = 3
    /// All that is played, mixed and limited, before ``VoiceEngine/setOutputVolume(_:)``.
    case mix = 4
}

/// What a sink hears: a participant, or a point of the way.
package struct SinkSource: BitwiseCopyable, Equatable, Sendable {
    /// The participant's number, or the point's behind all of those.
    let code: UInt64

    static func participant(_ number: UInt32) -> SinkSource { SinkSource(code: UInt64(number)) }

    static func point(_ point: SoundPoint) -> SinkSource { SinkSource(code: 1 << 32 | UInt64(point.rawValue)) }
}
