internal import CDTLS
internal import Glibc

/// A certificate that nobody but its own key has signed, on P-256, for clients that pin its fingerprint.
struct SelfSignedCertificate {
    /// 10 years: who pins it does not look at its dates, and a new one would need new URLs.
    static let lifetime: Int64 = 3652 * 86_400
    /// Clocks may be so wrong, s.
    private static let leeway: Int64 = 86_400

    /// Certificate and key in PEM.
    private(set) var text: [UInt8]

    /// Makes a certificate for these host names and numeric addresses.
    init(names: [String], notBefore: Int64 = Int64(time(nil)) - leeway, lifetime: Int64 = lifetime)
        throws(ServerIdentityError)
    {
        for name in names where !Self.isName(name) { throw .invalidName(name) }
        var certificate: UnsafeMutablePointer<CChar>?
        var key: UnsafeMutablePointer<CChar>?
        // None of them holds a NUL.
        let list: [CChar] = names.map(\.utf8CString).reduce(into: []) { $0 += $1 }
        let status = unsafe list.withUnsafeBufferPointer {
            unsafe dv_dtls_certificate_make(
                $0.baseAddress, $0.count, notBefore, notBefore + lifetime, &certificate, &key)
        }
        guard status == 0, let certificate = unsafe certificate, let key = unsafe key else { throw .outOfMemory }
        defer {
            unsafe dv_dtls_text_free(certificate)
            unsafe dv_dtls_text_free(key)
        }
        text = unsafe Array(UnsafeRawBufferPointer(start: certificate, count: strlen(certificate)))
        unsafe text.append(contentsOf: UnsafeRawBufferPointer(start: key, count: strlen(key)))
    }

    /// What a certificate may name (RFC 5280 section 4.2.1.6): letters, digits, hyphens and dots; colons of an IPv6
    /// address; a star.
    private static func isName(_ name: String) -> Bool {
        let isASCII = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":"),
                UInt8(ascii: "_"), UInt8(ascii: "*"):
                true
            default: false
            }
        }
        return isASCII && !name.isEmpty && name.utf8.count <= 253
    }
}
