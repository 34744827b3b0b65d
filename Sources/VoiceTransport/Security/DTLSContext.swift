internal import CDTLS

/// What the connections of one end share: a server's certificate and key, or whom a client trusts. Any thread; never
/// changed.
@safe
final class DTLSContext: Sendable {
    nonisolated(unsafe) let pointer: OpaquePointer

    /// Takes over a context that was made.
    @unsafe
    init(owning pointer: OpaquePointer) { unsafe self.pointer = pointer }

    deinit { unsafe dv_dtls_context_release(pointer) }
}
