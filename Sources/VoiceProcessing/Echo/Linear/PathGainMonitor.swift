import Glibc
import VoiceSignal

/// Tells that the echo has become louder or softer while its path stayed the same, as by a volume control behind the
/// reference.
///
/// The path W of now is set against the same path some time ago, W₀, each bin weighted with what the reference has had
/// there of late: the gain is ⟨W₀, W⟩ / ⟨W₀, W₀⟩, and ⟨W₀, W⟩² / (⟨W₀, W₀⟩ ⟨W, W⟩) says how like the two are otherwise.
/// A filter needs a moment to learn a new gain, so one counts that holds. One owner; allocates nothing after `init`.
struct PathGainMonitor: ~Copyable {
    /// Partitions that are compared, which hold most of a path: 120 ms.
    private static let partitions = 12
    /// Blocks with a far end between two looks: 0.1 s.
    private static let interval = 10
    /// Weight of a look in the reference's spectrum: half a second.
    private static let weight: Float = 0.2
    /// Share of the microphone's power unexplained below which the path is known well enough to be compared with.
    private static let known: Float = 0.1
    /// How like the paths must be, gains aside, to be the same.
    private static let same: Float = 0.8
    /// What is a change, and what is none, dB.
    private static let change: (least: Float, steady: Float) = (2.3, 0.5)
    /// A path that is none of the one before has this gain, -60 dB.
    private static let leastGain: Float = 1e-3
    /// Looks for which a path must be another to be compared with from then on: while a filter learns a new gain, it
    /// seems another too.
    private static let patience = 10
    /// Looks for which a gain must hold.
    private static let looks = 4
    /// Looks after which a path that stays is compared with anew.
    private static let renewal = 20

    private var before = Spectrum(lanes: partitions)
    private var power = RealVector(count: Spectrum.bins)
    private var sinceLook = 0
    private var sinceRenewal = 0
    private var isKept = false
    private var held: (level: Float, looks: Int) = (0, 0)
    private var otherFor = 0

    /// The path is another: there is nothing to compare with.
    mutating func restart() { isKept = false }

    /// Takes a block with a far end. Returns a change, dB, once it is certain.
    mutating func observe(
        _ reference: borrowing Spectrum, filter: borrowing EchoPathFilter, unexplained: Float
    ) -> Float? {
        sinceLook += 1
        guard sinceLook >= Self.interval else { return nil }
        sinceLook = 0
        updatePower(of: reference)
        guard isKept else {
            if unexplained < Self.known { keep(filter.weights) }
            return nil
        }
        return look(filter.weights, isKnown: unexplained < Self.known)
    }

    private mutating func updatePower(of reference: borrowing Spectrum) {
        for bin in 0..<Spectrum.bins {
            var sum: Float = 0
            for lane in 0..<Self.interval { sum += reference.power(bin * reference.lanes + lane) }
            power[bin] += Self.weight * (sum - power[bin])
        }
    }

    private mutating func look(_ weights: borrowing Spectrum, isKnown: Bool) -> Float? {
        let (gain, likeness) = compare(weights)
        sinceRenewal += 1
        let isSame = likeness > Self.same
        let level = 20 * log10f(max(gain, Self.leastGain))
        held = abs(level - held.level) < Self.change.steady ? (held.level, held.looks + 1) : (level, 0)
        otherFor = isSame ? 0 : otherFor + 1
        guard isKnown else { return nil }
        if otherFor >= Self.patience { keep(weights) }
        guard isSame, held.looks >= Self.looks else { return nil }
        if abs(level) >= Self.change.least {
            keep(weights)
            return level
        }
        if sinceRenewal >= Self.renewal { keep(weights) }
        return nil
    }

    private mutating func keep(_ weights: borrowing Spectrum) {
        for bin in 0..<Spectrum.bins {
            for lane in 0..<Self.partitions {
                let (to, from) = (bin * Self.partitions + lane, bin * weights.lanes + lane)
                before.real[to] = weights.real[from]
                before.imaginary[to] = weights.imaginary[from]
            }
        }
        isKept = true
        sinceRenewal = 0
        otherFor = 0
        held = (0, 0)
    }

    /// The gain since, and how like the paths are.
    private func compare(_ weights: borrowing Spectrum) -> (gain: Float, likeness: Float) {
        var (product, old, new): (Float, Float, Float) = (0, 0, 0)
        for bin in 0..<Spectrum.bins {
            var (binProduct, binOld, binNew): (Float, Float, Float) = (0, 0, 0)
            for lane in 0..<Self.partitions {
                let (at, of) = (bin * Self.partitions + lane, bin * weights.lanes + lane)
                binProduct += before.real[at] * weights.real[of] + before.imaginary[at] * weights.imaginary[of]
                binOld += before.power(at)
                binNew += weights.power(of)
            }
            product += power[bin] * binProduct
            old += power[bin] * binOld
            new += power[bin] * binNew
        }
        guard product > 0, old > 0, new > 0 else { return (0, 0) }
        return (product / old, product / old * (product / new))
    }
}
