import CVoiceKernels
import VoiceSignal

/// How much ``DoubleTalkNetwork`` counts beside the estimate and ``ResidualEchoNetwork``.
///
/// The gain is the product of its gain and theirs, each to a power that follows how much of a near end is heard. On
/// recordings of devices it is right more often than they are while both talk. In simulated rooms they leave less of a
/// far end that is alone, and recover sooner from a delay that has jumped. Figures: docs/decisions/069.
///
/// Where the linear stage leaves much of an echo, the others take quiet talkers for it. There a near end that is heard
/// is not suppressed further than the network says (``floor(of:)``). Where the linear stage leaves little, they are
/// the better judges, and the floor fades. Figures: docs/decisions/090, 100.
struct DoubleTalkShare {
    /// Powers of the network's gain and of the others' product.
    typealias Powers = (network: Float, others: Float)

    /// What a block shows.
    struct Block {
        /// Share of what is left that is a near end, in amplitude, as the first network and this one hear it.
        var near: Float
        var ownNear: Float
        /// 0...1: the far end is heard alone.
        var farOnly: Float
        /// By how much the filter's error is weighed more than usual, as its path is new: 1 of a known one.
        var doubt: Float
        /// Share of the microphone's power that the filter does not explain.
        var unexplained: Float
    }

    /// Share of what is left that is a near end, in amplitude, up to which none is heard, and from which one surely is.
    var near: Range = (0.1, 0.4)
    /// Where none is heard, and where one surely is.
    var alone: Powers = (0.3, 1)
    var both: Powers = (0.85, 0.2)

    /// Whether no gain is below the network's own where a near end surely is.
    var keepsTalker = true
    /// Amplitude of the echo estimate that stays in the error where the linear stage is good, -32 dB, and where it is
    /// not, -20 dB.
    var leakage: Range = (0.025, 0.1)
    /// Power over the noise floor of a bin in which there is nothing but the room, and of one in which there surely is
    /// more.
    var overNoise: Range = (8, 32)
    /// Doubt of a path that is known, and of one that is new. Nothing is known of what the linear stage leaves of that.
    var doubt: Range = (1.3, 2.5)
    /// Share of the microphone unexplained by a filter that is right, however loud the near end, and by one that adds
    /// to the microphone: the echo has jumped.
    var unexplained: Range = (0.95, 1.1)
    /// The far end is heard alone: from where the floor falls, and where it would be zero. Where the far end surely is
    /// alone it is half as high.
    var farOnly: Range = (0.95, 1.05)

    typealias Range = (from: Float, to: Float)

    /// The others only.
    static let none = DoubleTalkShare(alone: (0, 1), both: (0, 1), keepsTalker: false)

    func powers(near share: Float) -> Powers {
        let part = Self.progress(share, near)
        return (
            alone.network + part * (both.network - alone.network), alone.others + part * (both.others - alone.others)
        )
    }

    /// Lowest gain of a bin of a block where the linear stage is poor and the network's own gain is 1.
    func floor(of block: Block) -> Float {
        guard keepsTalker else { return 0 }
        return Self.progress(max(block.near, block.ownNear), near) * (1 - Self.progress(block.doubt, doubt))
            * (1 - Self.progress(block.unexplained, unexplained)) * (1 - Self.progress(block.farOnly, farOnly))
    }

    /// Writes the lowest gain of each bin, whatever the others say.
    ///
    /// - Parameters:
    ///   - block: ``floor(of:)`` of the block.
    ///   - gains: the network's.
    ///   - leakage: share of the echo estimate's power that stays in the error.
    ///   - power: of what the linear stage leaves.
    ///   - noise: lowest power of the room's noise.
    func writeFloor(
        _ block: Float, gains: borrowing RealVector, leakage leaks: borrowing RealVector,
        power: borrowing RealVector, noise: borrowing RealVector, into floor: inout RealVector
    ) {
        let count = floor.count
        precondition(gains.count == count && leaks.count == count && power.count == count && noise.count == count)
        var rule = vk_talker_rule(
            block: block, leakage_from: leakage.from, leakage_to: leakage.to, over_from: overNoise.from,
            over_to: overNoise.to)
        unsafe vk_talker_floor(
            &rule, gains.start, leaks.start, power.start, noise.start, floor.start, count)
    }

    /// 0...1: how far a value has come in a range.
    private static func progress(_ value: Float, _ range: Range) -> Float {
        min(1, max(0, (value - range.from) / (range.to - range.from)))
    }
}
