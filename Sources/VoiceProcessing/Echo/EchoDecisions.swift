import VoiceSignal

/// What the native canceller decided in a block, and the evidence that it went by.
///
/// For reports and tests; of a call, only the judge of interruptions goes by it: by ``farOnly``, ``near`` and the
/// levels.
package struct EchoDecisions: BitwiseCopyable, Sendable {
    /// Why the reference was moved.
    package enum Move: String, BitwiseCopyable, Sendable {
        /// Nobody knows better than the caller's hint.
        case hinted
        /// The search found the echo where the hint had put the reference.
        case confirmed
        /// The search found the echo, and no path was known.
        case found
        /// The search found the echo elsewhere than where its path is known.
        case moved
        /// An earlier arrival of the echo was found, or the first one, and the filter was kept.
        case shifted
        /// The known path's echo was found elsewhere.
        case jumped
    }

    /// What the suppressor does about an echo of which little is known.
    package enum Caution: String, BitwiseCopyable, Sendable {
        /// Nothing more than the two estimates say.
        case none
        /// Nothing is known of the path: everything is turned down.
        case unknownPath = "unknown path"
        /// There is an echo, and it is not where the hint says: everything is turned down.
        case wrongHint = "wrong hint"
    }

    /// The reference was moved, to `delay` frames of 16 kHz before the microphone.
    package var move: Move?
    package var delay = 0
    /// The peak that it was moved by, over the mean of all lags and over that of two equal signals, 0...1.
    package var prominence: Float = 0
    package var likeness: Float = 0
    /// The quick filter's weights were taken over.
    package var isShadowTaken = false
    /// The path was taken for another one, so what was measured of it was thrown away.
    package var isPathNew = false
    /// The estimate was no part of the microphone any more, so the filter expects another path.
    package var isPathLost = false
    /// The filter was scaled by this, as the far end's volume was turned.
    package var gain: Float?
    package var caution = Caution.none
    /// By how much the suppressor weighs the filter's own error more than usual: 1 is not at all.
    package var doubt: Float = 1
    /// Share of the microphone's power that the filter did not explain before this block.
    package var unexplained: Float = 0
    /// How surely the far end alone is heard, 0...1: by the coherence of the microphone with the estimated echo.
    package var farOnly: Float = 0
    /// Share of what the filter leaves, in amplitude, that the first network takes for a near end, 0...1.
    package var near: Float = 0
    /// RMS in the octaves of ``OctaveLevels`` of what the filter leaves, before the residual's suppressor, and of the
    /// echo that it takes away, dBFS.
    package var octaves = (
        left: SIMD8<Float>(repeating: silenceLevel), echo: SIMD8<Float>(repeating: silenceLevel)
    )
    /// The quick filter's share in the best mixture of both, 0...1.
    package var motion: Float = 0

    /// Nothing was decided.
    package init() {}
}
