/// What a response repeats of its request: 96 bits that must come from a cryptographic source (RFC 8489 section 5).
package struct STUNTransaction: Hashable, Sendable, BitwiseCopyable {
    package let high: UInt64
    package let low: UInt32

    package init(high: UInt64, low: UInt32) {
        self.high = high
        self.low = low
    }
}
