/// What conversations have ordered of the media thread while its ring had no room, the oldest first: at most one of a
/// kind, since a later one makes an earlier one pointless.
struct WaitingOrders: Sendable {
    private var orders: [MediaCommand] = []

    /// The one that has waited longest.
    var first: MediaCommand? { orders.first }

    mutating func append(_ order: MediaCommand) {
        orders.removeAll { $0.isReplaced(by: order) }
        orders.append(order)
    }

    mutating func removeFirst() { orders.removeFirst() }
}

extension MediaCommand {
    /// Whether nothing depends on it any more where this order follows.
    fileprivate func isReplaced(by later: MediaCommand) -> Bool {
        switch (self, later) {
        case (.openGate, .openGate), (.openGate, .closeGate), (.closeGate, .openGate), (.closeGate, .closeGate): true
        case (.watchAnswers, .watchAnswers), (.confirmBargeIn, .watchAnswers), (.confirmBargeIn, .confirmBargeIn): true
        default: false
        }
    }
}
