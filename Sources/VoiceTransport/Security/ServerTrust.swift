internal import CDTLS

/// Which server a client takes for the one it wants.
public enum ServerTrust: Equatable, Sendable {
    /// The one with this certificate. Nothing else of the certificate counts: no authority, no host, no date.
    case fingerprint(CertificateFingerprint)
    /// One whose certificate is of this host, in time, and signed by an authority: the system's (as OpenSSL finds them,
    /// by `SSL_CERT_FILE` and `SSL_CERT_DIR` too), or those in a file in PEM.
    case authorities(host: String, file: String? = nil)

    /// What connections of a client share. Reads files.
    func context() throws(ServerTrustError) -> DTLSContext {
        var made: OpaquePointer?
        let result =
            switch self {
            case .fingerprint(let fingerprint):
                unsafe fingerprint.bytes.withUnsafeBufferPointer {
                    unsafe dv_dtls_pinned_client_create(&made, $0.baseAddress)
                }
            case .authorities(let host, let file): unsafe dv_dtls_trusting_client_create(&made, host, file)
            }
        if result == DV_DTLS_MADE, let made = unsafe made { return unsafe DTLSContext(owning: made) }
        switch (self, result) {
        case (.authorities(_, let file), DV_DTLS_NO_AUTHORITIES): throw .authoritiesUnreadable(file: file)
        case (.authorities(let host, _), DV_DTLS_BAD_HOST): throw .invalidHost(host)
        default: throw .outOfMemory
        }
    }
}

/// Why nobody can be trusted as asked.
public enum ServerTrustError: Error, Equatable, Sendable {
    /// The file of authorities, or the system's (nil), cannot be read. Remedy: a file in PEM; Debian's package
    /// `ca-certificates`.
    case authoritiesUnreadable(file: String?)
    /// It is neither a host name nor an address.
    case invalidHost(String)
    /// There is no memory, or OpenSSL is not as it should be. Remedy: raise the limits of the process; install libssl3
    /// anew.
    case outOfMemory
}
