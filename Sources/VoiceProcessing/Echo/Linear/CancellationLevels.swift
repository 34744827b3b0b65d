import Glibc

/// How well it cancels, as far as that can be known: read while the far end alone is heard, held meanwhile.
struct CancellationLevels {
    /// Weight of a block: 0.3 s.
    private static let weight: Float = 0.033
    /// How surely the far end must be alone.
    private static let alone: Float = 0.8
    /// Enhancement by the filter alone, dB, from which what is left can be told from an echo, and to where it surely
    /// can: suppression then hides no talker.
    private static let trust: (from: Float, to: Float) = (4, 16)

    private var came: Float = 0
    private var left: Float = 0
    private var went: Float = 0
    private var played: Float = 0
    private var echoed: Float = 0
    private var blocks = 0

    /// Takes a block's energies: microphone, error of the filter, output, re-timed reference, echo estimate.
    mutating func observe(
        microphone: Float, error: Float, output: Float, reference: Float, echo: Float, farOnly: Float
    ) {
        guard farOnly > Self.alone else { return }
        blocks += 1
        let weight = max(Self.weight, 1 / Float(blocks))
        came += weight * (microphone - came)
        left += weight * (error - left)
        went += weight * (output - went)
        played += weight * (reference - played)
        echoed += weight * (echo - echoed)
    }

    /// The path is new: what was measured of the old one says nothing.
    mutating func restart() { self = CancellationLevels() }

    /// The echo's power over that of what is left, dB; nil before the far end was alone.
    var enhancement: Float? { blocks > 10 ? Self.ratio(came, went) : nil }

    /// The microphone's power over that of the filter's error, dB; nil before the far end was alone for a second.
    var filterEnhancement: Float? { blocks > 100 ? Self.ratio(came, left) : nil }

    /// The reference's power over the echo's, dB.
    var returnLoss: Float? { blocks > 10 ? Self.ratio(played, echoed) : nil }

    /// 0...1: how far the filter has learned, as the output shows it.
    var readiness: Float {
        guard blocks > 10 else { return 0 }
        let gained = Self.ratio(came, left)
        return min(1, max(0, (gained - Self.trust.from) / (Self.trust.to - Self.trust.from)))
    }

    private static func ratio(_ a: Float, _ b: Float) -> Float { 10 * log10f((a + 1e-12) / (b + 1e-12)) }
}
