import COpenSSL
import Glibc
import Testing

@testable import VoiceTransport

/// The far end of a DTLS path as somebody else might have written it: OpenSSL used plainly, over a pair of sockets that
/// carries datagrams.
@safe
final class ForeignDTLS {
    /// What it wants of the other end.
    struct Wishes {
        var protocols: [String] = ["duplex-room/1"]
        var profiles: String? = "SRTP_AEAD_AES_128_GCM"
        var suites = "ALL"
        var isVersion12 = true
        var options: UInt64 = 0
        /// Certificate and key in PEM, of a server.
        var identity: [UInt8]?
    }

    private let context: OpaquePointer
    private let connection: OpaquePointer
    private let far: Int32
    /// What OpenSSL reads and writes.
    private let near: Int32

    init(_ wishes: Wishes = Wishes()) throws {
        var pair: [Int32] = [0, 0]
        let kind = Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue)
        try #require(unsafe socketpair(AF_UNIX, kind, 0, &pair) == 0)
        far = pair[0]
        near = pair[1]
        let isServer = wishes.identity != nil
        unsafe context = try #require(unsafe SSL_CTX_new(isServer ? DTLS_server_method() : DTLS_client_method()))
        let version = Int(wishes.isVersion12 ? DTLS1_2_VERSION : DTLS1_VERSION)
        _ = unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, version, nil)
        _ = unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, version, nil)
        // DTLS 1.0 needs signatures by SHA-1, which are below the usual level.
        if !wishes.isVersion12 { unsafe SSL_CTX_set_security_level(context, 0) }
        #expect(unsafe SSL_CTX_set_cipher_list(context, wishes.suites) == 1)
        _ = unsafe SSL_CTX_set_options(context, wishes.options | UInt64(1 << 12))
        if let profiles = wishes.profiles { #expect(unsafe SSL_CTX_set_tlsext_use_srtp(context, profiles) == 0) }
        let names = wishes.protocols.flatMap { name -> [UInt8] in [UInt8(name.utf8.count)] + Array(name.utf8) }
        if let text = wishes.identity {
            try unsafe Self.identify(context, text)
            if !names.isEmpty {
                // The first that the client names, whatever it is.
                unsafe SSL_CTX_set_alpn_select_cb(
                    context,
                    { _, out, count, offered, _, _ in
                        guard let offered = unsafe offered else { return SSL_TLSEXT_ERR_NOACK }
                        unsafe count?.pointee = offered[0]
                        unsafe out?.pointee = offered + 1
                        return SSL_TLSEXT_ERR_OK
                    }, nil)
            }
        } else if !names.isEmpty {
            #expect(unsafe SSL_CTX_set_alpn_protos(context, names, UInt32(names.count)) == 0)
        }
        unsafe connection = try #require(unsafe SSL_new(context))
        let bio = unsafe BIO_new_socket(near, 0)
        unsafe SSL_set_bio(connection, bio, bio)
        _ = unsafe SSL_ctrl(connection, SSL_CTRL_SET_MTU, 1200, nil)
        if isServer { unsafe SSL_set_accept_state(connection) } else { unsafe SSL_set_connect_state(connection) }
        step()
    }

    deinit {
        unsafe SSL_free(connection)
        unsafe SSL_CTX_free(context)
        _ = Glibc.close(near)
        _ = Glibc.close(far)
    }

    private static func identify(_ context: OpaquePointer, _ text: [UInt8]) throws {
        for isKey in [false, true] {
            let bio = unsafe BIO_new_mem_buf(text, Int32(text.count))
            defer { unsafe BIO_free(bio) }
            if isKey {
                let key = unsafe PEM_read_bio_PrivateKey(bio, nil, nil, nil)
                #expect(unsafe SSL_CTX_use_PrivateKey(context, key) == 1)
                unsafe EVP_PKEY_free(key)
            } else {
                let certificate = unsafe PEM_read_bio_X509(bio, nil, nil, nil)
                #expect(unsafe SSL_CTX_use_certificate(context, certificate) == 1)
                unsafe X509_free(certificate)
            }
        }
    }

    /// Whether it has finished the handshake.
    var isOpen: Bool { unsafe SSL_get_state(connection) == TLS_ST_OK }

    /// Whether the other end has said goodbye, or that something is wrong.
    var isClosed: Bool { unsafe SSL_get_shutdown(connection) & SSL_RECEIVED_SHUTDOWN != 0 }

    private(set) var controls: [[UInt8]] = []

    /// Goes as far as it can.
    func step() {
        ERR_clear_error()
        if unsafe SSL_do_handshake(connection) == 1 {
            var bytes = [UInt8](repeating: 0, count: 16_384)
            while true {
                let count = unsafe Int(SSL_read(connection, &bytes, Int32(bytes.count)))
                guard count > 0 else { break }
                controls.append(Array(bytes[..<count]))
            }
        }
        ERR_clear_error()
    }

    func receive(_ datagram: [UInt8]) {
        #expect(unsafe Glibc.send(far, datagram, datagram.count, 0) == datagram.count)
        step()
    }

    /// What it sends.
    func records() -> [[UInt8]] {
        var records: [[UInt8]] = []
        var bytes = [UInt8](repeating: 0, count: 20_000)
        while true {
            let count = unsafe recv(far, &bytes, bytes.count, 0)
            guard count > 0 else { return records }
            records.append(Array(bytes[..<count]))
        }
    }

    func send(_ bytes: [UInt8]) { #expect(unsafe SSL_write(connection, bytes, Int32(bytes.count)) == bytes.count) }

    /// Begins another handshake on the same path.
    func renegotiate() {
        #expect(unsafe SSL_renegotiate(connection) == 1)
        step()
    }

    func close() { _ = unsafe SSL_shutdown(connection) }

    /// What it has as keying material for SRTP.
    func keyingMaterial(count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let label = "EXTRACTOR-dtls_srtp"
        #expect(unsafe SSL_export_keying_material(connection, &bytes, count, label, label.utf8.count, nil, 0, 0) == 1)
        return bytes
    }
}

/// Carries datagrams between an end of ours and a foreign one until neither has anything to say.
func exchange(_ ours: DTLSEnd, _ foreign: ForeignDTLS) {
    for _ in 0..<50 {
        let (toForeign, toOurs) = (ours.records(), foreign.records())
        if toForeign.isEmpty, toOurs.isEmpty { return }
        for record in toForeign { foreign.receive(record) }
        for record in toOurs { if let answer = ours.receive(record).answer { foreign.receive(answer) } }
    }
}
