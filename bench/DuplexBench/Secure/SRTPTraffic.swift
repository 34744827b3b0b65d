import CSRTP
import VoicePeers
import VoiceTransport

/// Something of the benchmark could not be set up.
struct SecureFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// The packets of ``SRTPBenchmark``: one of each talker, that is numbered anew each time.
struct NumberedPackets {
    /// A header with an audio level, and the payload.
    static let length = 20 + SRTPBenchmark.payloadLength
    var packets: [[UInt8]]
    private var talker = 0
    private var number: UInt16 = 0

    init() {
        packets = (0..<SRTPBenchmark.talkers).map { talker in
            let header: [UInt8] = [
                0x90, 111, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(talker), 0xBE, 0xDE, 0, 1, 0x10, 0x80 | 30, 0, 0,
            ]
            let payload = (0..<SRTPBenchmark.payloadLength).map { UInt8(truncatingIfNeeded: $0 * 31 + talker) }
            return header + payload + [UInt8](repeating: 0, count: 200)
        }
    }

    /// Numbers the next packet: whose it is.
    mutating func next() -> Int {
        talker += 1
        if talker == packets.count {
            talker = 0
            number &+= 1
        }
        packets[talker][2] = UInt8(number >> 8)
        packets[talker][3] = UInt8(truncatingIfNeeded: number)
        return talker
    }

    static func keyingMaterial(_ profile: SRTPProfile) -> [UInt8] {
        (0..<profile.keyingMaterialLength).map { UInt8(truncatingIfNeeded: $0 * 7 + 1) }
    }
}

/// Ours, from end to end.
final class SRTPTraffic {
    private var packets = NumberedPackets()
    private var sender: SRTPSession
    private var receiver: SRTPSession
    private let unprotects: Bool

    init(_ profile: SRTPProfile, unprotects: Bool) throws {
        let material = NumberedPackets.keyingMaterial(profile)
        let sender = SRTPSession(profile: profile, keyingMaterial: material, isClient: true)
        let receiver = SRTPSession(profile: profile, keyingMaterial: material, isClient: false)
        guard let sender, let receiver else { throw SecureFailure("OpenSSL does not have \(profile.openSSLName)") }
        self.sender = sender
        self.receiver = receiver
        self.unprotects = unprotects
    }

    func run(_ count: Int) {
        for _ in 0..<count {
            let talker = packets.next()
            var packet = packets.packets[talker].mutableSpan
            guard let length = sender.protect(&packet, count: NumberedPackets.length, .sound) else {
                fatalError("a packet was not protected")
            }
            guard unprotects else { continue }
            precondition(receiver.unprotect(&packet, count: length, .sound) == NumberedPackets.length)
        }
    }
}

/// libsrtp2's, from end to end.
@safe
final class LibSRTPTraffic {
    private var packets = NumberedPackets()
    private var sender: srtp_t?
    private var receiver: srtp_t?
    private let unprotects: Bool
    private static let isReady = srtp_init() == srtp_err_status_ok

    init(_ profile: SRTPProfile, unprotects: Bool) throws {
        guard Self.isReady else { throw SecureFailure("libsrtp2 does not start") }
        self.unprotects = unprotects
        let material = NumberedPackets.keyingMaterial(profile)
        let salt = material[(2 * profile.keyLength)...].prefix(profile.saltLength)
        let key = Array(material.prefix(profile.keyLength) + salt)
        unsafe sender = try Self.session(profile, key, ssrc_any_outbound)
        unsafe receiver = try Self.session(profile, key, ssrc_any_inbound)
    }

    deinit {
        unsafe srtp_dealloc(sender)
        unsafe srtp_dealloc(receiver)
    }

    private static func session(_ profile: SRTPProfile, _ key: [UInt8], _ type: srtp_ssrc_type_t) throws -> srtp_t? {
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
        unsafe policy.window_size = 512
        var made: srtp_t?
        let status = unsafe key.withUnsafeMutableBufferPointer { key in
            unsafe policy.key = key.baseAddress
            return unsafe srtp_create(&made, &policy)
        }
        guard status == srtp_err_status_ok else { throw SecureFailure("libsrtp2 refuses \(profile.openSSLName)") }
        return unsafe made
    }

    func run(_ count: Int) {
        for _ in 0..<count {
            let talker = packets.next()
            unsafe packets.packets[talker].withUnsafeMutableBytes { packet in
                var length = Int32(NumberedPackets.length)
                var status = unsafe srtp_protect(sender, packet.baseAddress, &length)
                if unprotects { status = unsafe srtp_unprotect(receiver, packet.baseAddress, &length) }
                precondition(status == srtp_err_status_ok)
            }
        }
    }
}
