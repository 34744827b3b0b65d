/// What proves, after a break, that a client is the participant it says it is: 128 random bits from the server's
/// caller.
///
/// Never printed: its description hides it.
package struct RejoinSecret: Sendable, BitwiseCopyable, CustomStringConvertible, CustomDebugStringConvertible {
    let high: UInt64
    let low: UInt64

    /// Makes a secret of 128 bits, which must come from a cryptographic source.
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// A placeholder; the secret is not shown.
    package var description: String { "RejoinSecret(hidden)" }
    /// A placeholder; the secret is not shown.
    package var debugDescription: String { description }
}

extension RejoinSecret: Equatable {
    /// Compares in constant time, so that answers do not tell how much of a guess was right.
    public static func == (left: Self, right: Self) -> Bool {
        ((left.high ^ right.high) | (left.low ^ right.low)) == 0
    }
}
