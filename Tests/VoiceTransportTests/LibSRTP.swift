import CSRTP
import VoicePeers

@testable import VoiceTransport

/// One end of a session by libsrtp2, keyed as ``SRTPSession`` is: the oracle.
@safe
final class LibSRTP {
    private static let isReady = srtp_init() == srtp_err_status_ok
    private var outbound: srtp_t?
    private var inbound: srtp_t?

    init?(profile: SRTPProfile, keyingMaterial: [UInt8], isClient: Bool) {
        guard Self.isReady else { return nil }
        let keys = 2 * profile.keyLength
        func master(_ end: Int) -> [UInt8] {
            Array(keyingMaterial[(end * profile.keyLength)...].prefix(profile.keyLength))
                + keyingMaterial[(keys + end * profile.saltLength)...].prefix(profile.saltLength)
        }
        func session(_ key: [UInt8], _ type: srtp_ssrc_type_t) -> srtp_t? {
            var key = key
            var policy = unsafe srtp_policy_t()
            unsafe policy.ssrc.type = type
            switch profile {
            case .aeadAES128GCM:
                unsafe srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtp)
                unsafe srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtcp)
            case .aes128CounterHMACSHA1:
                unsafe srtp_crypto_policy_set_rtp_default(&policy.rtp)
                unsafe srtp_crypto_policy_set_rtcp_default(&policy.rtcp)
            }
            unsafe policy.window_size = UInt(ReplayWindow<9>.width)
            var made: srtp_t?
            let status = unsafe key.withUnsafeMutableBufferPointer { key in
                unsafe policy.key = key.baseAddress
                return unsafe srtp_create(&made, &policy)
            }
            return unsafe status == srtp_err_status_ok ? made : nil
        }
        unsafe outbound = session(master(isClient ? 0 : 1), ssrc_any_outbound)
        unsafe inbound = session(master(isClient ? 1 : 0), ssrc_any_inbound)
        guard unsafe outbound != nil, unsafe inbound != nil else { return nil }
    }

    deinit {
        unsafe srtp_dealloc(outbound)
        unsafe srtp_dealloc(inbound)
    }

    func protected(_ packet: [UInt8], _ kind: MediaKind) -> [UInt8]? {
        unsafe change(packet) { bytes, count in
            unsafe kind == .sound ? srtp_protect(outbound, bytes, count) : srtp_protect_rtcp(outbound, bytes, count)
        }
    }

    func unprotected(_ packet: [UInt8], _ kind: MediaKind) -> [UInt8]? {
        unsafe change(packet) { bytes, count in
            unsafe kind == .sound ? srtp_unprotect(inbound, bytes, count) : srtp_unprotect_rtcp(inbound, bytes, count)
        }
    }

    @unsafe
    private func change(
        _ packet: [UInt8], _ body: (UnsafeMutableRawPointer?, UnsafeMutablePointer<Int32>) -> srtp_err_status_t
    ) -> [UInt8]? {
        var buffer = packet + [UInt8](repeating: 0, count: Int(SRTP_MAX_TRAILER_LEN))
        var count = Int32(packet.count)
        let status = unsafe buffer.withUnsafeMutableBytes { bytes in unsafe body(bytes.baseAddress, &count) }
        return status == srtp_err_status_ok ? Array(buffer.prefix(Int(count))) : nil
    }
}
