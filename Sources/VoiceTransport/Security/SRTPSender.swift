internal import VoicePeers

/// Protects the packets to one peer, and sees to it that no key stream is used twice, whoever made the packets: a
/// server protects what publishers number, and two packets at one place would give both away, and with GCM the
/// authentication key as well (RFC 7714 section 8.4).
struct SRTPSender: ~Copyable {
    private let profile: SRTPProfile
    private let sound: SRTPTransform
    private let reports: SRTPTransform
    /// What was sent. Within the module so that tests can come near a limit.
    var streams = SRTPStreams()
    /// Packets under the keys of each kind.
    var soundCount: UInt64 = 0
    var reportCount: UInt64 = 0
    /// Whether something could not be sent that could be with other keys.
    private(set) var isUsedUp = false

    init?(_ profile: SRTPProfile, keys: borrowing SRTPKeyDerivation) {
        guard let sound = SRTPTransform(profile, .sound, from: keys, encrypts: true),
            let reports = SRTPTransform(profile, .report, from: keys, encrypts: true)
        else { return nil }
        self.profile = profile
        self.sound = sound
        self.reports = reports
    }

    /// Protects the first `count` of `room` bytes in place; the new length.
    @unsafe
    mutating func protect(_ packet: UnsafeMutablePointer<UInt8>, count: Int, room: Int, _ kind: MediaKind) -> Int? {
        let overhead = profile.overhead(kind)
        guard count >= 0, count <= room - overhead, let header = unsafe SRTPHeader(packet, count: count, kind),
            // Taken before it is used, so that nothing that fails can use it again.
            let place = take(header, kind)
        else { return nil }
        let sealed =
            switch kind {
            case .sound: unsafe sound.seal(packet, header: header.length, count: count, at: place)
            case .report: unsafe reports.seal(packet, header: header.length, count: count, at: place)
            }
        return sealed ? count + overhead : nil
    }

    /// The place of a packet, which no other has had or will have; nil when there is none.
    private mutating func take(_ header: SRTPHeader, _ kind: MediaKind) -> SRTPPlace? {
        switch kind {
        case .sound:
            guard soundCount < SRTPStream.soundLimit, let stream = stream(of: header.source),
                let index = streams[stream].index(of: header.sequenceNumber)
            else {
                isUsedUp = true
                return nil
            }
            guard streams[stream].sound.admits(index) else { return nil }
            streams[stream].sound.insert(index)
            soundCount += 1
            return SRTPPlace(sound: header.source, index: index)
        case .report:
            guard reportCount < SRTPStream.reportLimit, let stream = stream(of: header.source),
                streams[stream].reports.end < SRTPStream.reportLimit
            else {
                isUsedUp = true
                return nil
            }
            let index = streams[stream].reports.end
            streams[stream].reports.insert(index)
            reportCount += 1
            return SRTPPlace(report: header.source, index: index)
        }
    }

    private mutating func stream(of source: UInt32) -> Int? { streams.place(of: source) ?? streams.add(source) }
}
