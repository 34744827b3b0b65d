internal import CDTLS
internal import Glibc
internal import VoiceRealtime

/// Who a room server is: a certificate and its private key. The key is not printed, and stays in OpenSSL's memory
/// alone.
public struct ServerIdentity: Sendable, CustomStringConvertible {
    /// What a client pins that shall take this server and no other.
    public let fingerprint: CertificateFingerprint
    /// Until when the certificate is valid, seconds since 1970; nil where it does not say.
    package let expires: Int64?
    let context: DTLSContext

    /// An identity of a certificate, with those of its authorities behind it, and its key, both in PEM.
    ///
    /// - Parameter place: where the texts come from, for errors.
    init(certificates: [UInt8], key: [UInt8], place: (certificates: String, key: String)) throws(ServerIdentityError) {
        var made: OpaquePointer?
        let result = unsafe certificates.withUnsafeBytes { certificates in
            unsafe key.withUnsafeBytes { key in
                unsafe dv_dtls_server_create(
                    &made, certificates.baseAddress, certificates.count, key.baseAddress, key.count)
            }
        }
        guard result == DV_DTLS_MADE, let made = unsafe made else {
            switch result {
            case DV_DTLS_NO_CERTIFICATE: throw .notACertificate(path: place.certificates)
            case DV_DTLS_WEAK_CERTIFICATE: throw .weakCertificate(path: place.certificates)
            case DV_DTLS_NO_KEY: throw .notAKey(path: place.key)
            case DV_DTLS_OTHER_KEY: throw .otherKey(path: place.key)
            default: throw .outOfMemory
            }
        }
        unsafe context = DTLSContext(owning: made)
        var bytes = [UInt8](repeating: 0, count: CertificateFingerprint.size)
        unsafe bytes.withUnsafeMutableBufferPointer { unsafe dv_dtls_fingerprint(made, $0.baseAddress) }
        guard let fingerprint = CertificateFingerprint(bytes: bytes) else { throw .outOfMemory }
        self.fingerprint = fingerprint
        let end = unsafe dv_dtls_not_after(made)
        expires = end < 0 ? nil : end
    }

    /// The fingerprint; the key is not shown.
    public var description: String { "ServerIdentity(\(fingerprint))" }
}

/// Where a server's identity comes from. Loading it again shows what has changed there since: a certificate that was
/// renewed.
public enum ServerIdentitySource: Equatable, Sendable {
    /// Files in PEM: the certificate with those of its authorities behind it, and the key.
    case files(certificates: String, key: String)
    /// A self-signed certificate that is made the first time, for these names and addresses, and kept in this folder:
    /// in `identity.pem`.
    case kept(directory: String, names: [String])

    /// Reads the identity, or makes it. Blocks. Allocates.
    public func load() throws(ServerIdentityError) -> ServerIdentity {
        switch self {
        case .files(let certificates, let key):
            let text = try IdentityFile(path: certificates).read(asSecret: false)
            var secret = try IdentityFile(path: key).read(asSecret: true)
            defer { secret.wipe() }
            return try ServerIdentity(certificates: text, key: secret, place: (certificates, key))
        case .kept(let directory, let names):
            try IdentityFile.prepare(directory: directory)
            let file = IdentityFile(path: directory + "/identity.pem")
            if !(try file.exists()) {
                var text = try SelfSignedCertificate(names: names).text
                defer { text.wipe() }
                try file.create(text)
            }
            var text = try file.read(asSecret: true)
            defer { text.wipe() }
            return try ServerIdentity(certificates: text, key: text, place: (file.path, file.path))
        }
    }
}

/// Why a server has no identity.
public enum ServerIdentityError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The file cannot be read (`errno`). Remedy: its path and its rights.
    case unreadable(path: String, errno: Int32)
    /// It is no file, or a very long one. Remedy: a file in PEM.
    case notAFile(path: String)
    /// The file or folder cannot be made (`errno`). Remedy: another folder, or the right to write there.
    case unwritable(path: String, errno: Int32)
    /// Everybody on this machine may read the key. Remedy: `chmod 600`, and a new key where somebody may have.
    case keyReadableByAll(path: String)
    /// Others may put their own key into the folder. Remedy: `chmod 700`.
    case folderWritableByOthers(path: String)
    /// There is no certificate in PEM in it. Remedy: the file that the authority gave, the server's own certificate
    /// first.
    case notACertificate(path: String)
    /// There is no private key in PEM in it, or one behind a password. Remedy: the key without a password, in a file
    /// that only the server may read.
    case notAKey(path: String)
    /// The key is not the certificate's. Remedy: the two that were made together.
    case otherKey(path: String)
    /// OpenSSL takes the certificate for too weak. Remedy: one of an EC key on P-256, or an RSA key of 2048 bits,
    /// signed with SHA-256.
    case weakCertificate(path: String)
    /// It is neither a host name nor an address. Remedy: ASCII letters, digits, dots and hyphens.
    case invalidName(String)
    /// There is no memory, or OpenSSL is not as it should be. Remedy: raise the limits of the process; install libssl3
    /// anew.
    case outOfMemory

    /// What is wrong, and what to do.
    public var description: String {
        switch self {
        case .unreadable(let path, let error):
            "cannot read '\(path)': \(systemReason(error)); check the path and its permissions"
        case .notAFile(let path): "'\(path)' is no file in PEM; name one"
        case .unwritable(let path, let error): "cannot write '\(path)': \(systemReason(error)); choose another folder"
        case .keyReadableByAll(let path): "everybody may read the key in '\(path)'; run: chmod 600 '\(path)'"
        case .folderWritableByOthers(let path): "others may write to '\(path)'; run: chmod 700 '\(path)'"
        case .notACertificate(let path): "there is no certificate in '\(path)'; give it in PEM, the server's own first"
        case .notAKey(let path):
            "there is no private key in '\(path)', or one behind a password; give it in PEM without"
        case .otherKey(let path): "the key in '\(path)' is not the certificate's; give the two that were made together"
        case .weakCertificate(let path):
            "the certificate in '\(path)' is too weak; get one of an EC key, signed with SHA-256"
        case .invalidName(let name): "'\(name)' is neither a host name nor an address"
        case .outOfMemory: "no memory for the server's certificate, or OpenSSL is broken"
        }
    }
}
