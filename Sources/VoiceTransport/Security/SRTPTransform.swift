internal import VoicePeers

/// What is done to the packets of one direction and kind, with its keys.
enum SRTPTransform: ~Copyable {
    case galois(GaloisTransform)
    case counter(CounterTransform)

    /// The transform of a kind, with the keys that are derived for it.
    init?(_ profile: SRTPProfile, _ kind: MediaKind, from keys: borrowing SRTPKeyDerivation, encrypts: Bool) {
        guard let key = keys.key(.encryption, kind, count: profile.keyLength),
            let salt = keys.key(.salting, kind, count: profile.saltLength)
        else { return nil }
        switch profile {
        case .aeadAES128GCM:
            guard let made = GaloisTransform(key: key, salt: salt, encrypts: encrypts) else { return nil }
            self = .galois(made)
        case .aes128CounterHMACSHA1:
            guard
                let authentication = keys.key(
                    .authentication, kind, count: CounterTransform.authenticationKeyLength),
                let made = CounterTransform(key: key, authenticationKey: authentication, salt: salt)
            else { return nil }
            self = .counter(made)
        }
    }

    /// Protects the first `count` bytes of a packet, of which `header` stay in clear. The caller has seen to room for
    /// the overhead.
    @unsafe
    func seal(_ packet: UnsafeMutablePointer<UInt8>, header: Int, count: Int, at place: SRTPPlace) -> Bool {
        switch self {
        case .galois(let transform): unsafe transform.seal(packet, header: header, count: count, at: place)
        case .counter(let transform): unsafe transform.seal(packet, header: header, count: count, at: place)
        }
    }

    /// Takes the protection off, so that `count` bytes are left. What is behind the header may be scrambled where it
    /// returns false.
    @unsafe
    func open(_ packet: UnsafeMutablePointer<UInt8>, header: Int, count: Int, at place: SRTPPlace) -> Bool {
        switch self {
        case .galois(let transform): unsafe transform.open(packet, header: header, count: count, at: place)
        case .counter(let transform): unsafe transform.open(packet, header: header, count: count, at: place)
        }
    }

    /// Puts back what ``open(_:header:count:at:)`` may have scrambled, so that another place can be tried.
    @unsafe
    func restore(_ packet: UnsafeMutablePointer<UInt8>, header: Int, count: Int, at place: SRTPPlace) -> Bool {
        switch self {
        case .galois(let transform): unsafe transform.restore(packet, header: header, count: count, at: place)
        case .counter: true
        }
    }

    /// What a protected report says of itself between its body of `count` bytes and its end, unverified.
    @unsafe
    func reportWord(_ packet: UnsafePointer<UInt8>, count: Int) -> UInt32 {
        switch self {
        case .galois: unsafe packet.word(at: count + GaloisTransform.tagLength)
        case .counter: unsafe packet.word(at: count)
        }
    }
}
