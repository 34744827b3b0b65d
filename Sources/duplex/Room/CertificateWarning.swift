/// Tells in time that an authority's certificate was not renewed: once it has expired, nobody new takes the server for
/// the one they want. Whoever pins a fingerprint does not look at its dates.
enum CertificateWarning {
    /// Certificates of 90 days are renewed 30 days before they expire: what has fewer left than this was not.
    private static let leastLeft: Int64 = 14 * 86_400

    /// - Parameters:
    ///   - expires: when the certificate does, seconds since 1970.
    ///   - now: the same.
    /// - Returns: what there is to be told; nil where there is nothing.
    static func text(expires: Int64, now: Int64) -> String? {
        let left = expires - now
        guard left < leastLeft else { return nil }
        let when = left > 0 ? "expires in \(Int(left / 86_400).counted("day"))" : "has expired: nobody new comes in"
        return "warning: the certificate \(when); renew it, and have the server reload it"
    }
}
