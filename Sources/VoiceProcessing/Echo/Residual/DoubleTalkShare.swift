/// How much ``DoubleTalkNetwork`` counts beside the estimate and ``ResidualEchoNetwork``: the gain is the product of
/// its gain and theirs, each to a power that follows how much of a near end is heard.
///
/// On recordings of devices it is right more often than they are while both talk. In simulated rooms they leave less of
/// a far end that is alone, and recover sooner from a delay that has jumped. Figures: docs/decisions/069.
struct DoubleTalkShare {
    /// Powers of the network's gain and of the others' product.
    typealias Powers = (network: Float, others: Float)

    /// Share of what is left that is a near end, in amplitude, up to which none is heard, and from which one surely is.
    var near: (from: Float, to: Float) = (0.1, 0.4)
    /// Where none is heard, and where one surely is.
    var alone: Powers = (0.3, 1)
    var both: Powers = (0.85, 0.4)

    /// The others only.
    static let none = DoubleTalkShare(alone: (0, 1), both: (0, 1))

    func powers(near share: Float) -> Powers {
        let part = min(1, max(0, (share - near.from) / (near.to - near.from)))
        return (
            alone.network + part * (both.network - alone.network), alone.others + part * (both.others - alone.others)
        )
    }
}
