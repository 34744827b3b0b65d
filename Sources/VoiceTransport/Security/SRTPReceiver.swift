internal import VoicePeers

/// Takes the protection off the packets of one peer. Only what is genuine changes what it remembers.
struct SRTPReceiver: ~Copyable {
    private let profile: SRTPProfile
    private let sound: SRTPTransform
    private let reports: SRTPTransform
    private(set) var streams = SRTPStreams()

    init?(_ profile: SRTPProfile, keys: borrowing SRTPKeyDerivation) {
        guard let sound = SRTPTransform(profile, .sound, from: keys, encrypts: false),
            let reports = SRTPTransform(profile, .report, from: keys, encrypts: false)
        else { return nil }
        self.profile = profile
        self.sound = sound
        self.reports = reports
    }

    /// Takes the protection off the first `count` of `room` bytes in place; the new length.
    @unsafe
    mutating func unprotect(_ packet: UnsafeMutablePointer<UInt8>, count: Int, room: Int, _ kind: MediaKind) -> Int? {
        let length = count - profile.overhead(kind)
        // A header that ends behind the body would take in the tag.
        guard length >= 0, count <= room, let header = unsafe SRTPHeader(packet, count: length, kind) else {
            return nil
        }
        let known = streams.place(of: header.source)
        guard known != nil || !streams.isFull else { return nil }
        let stream = known.map { streams[$0] } ?? SRTPStream()
        switch kind {
        case .sound:
            guard let index = stream.index(of: header.sequenceNumber), stream.sound.admits(index) else { return nil }
            guard
                let place = unsafe open(
                    packet, header, count: length, at: SRTPPlace(sound: header.source, index: index),
                    isFirst: stream.sound.newest == nil),
                let stream = known ?? streams.add(header.source)
            else { return nil }
            streams[stream].sound.insert(place.index)
        case .report:
            let word = unsafe reports.reportWord(packet, count: length)
            guard let place = SRTPPlace(report: header.source, word: word), stream.reports.admits(place.index),
                unsafe reports.open(packet, header: header.length, count: length, at: place),
                let stream = known ?? streams.add(header.source)
            else { return nil }
            streams[stream].reports.insert(place.index)
        }
        return length
    }

    /// Where a packet of sound is genuine: at `place`, or a lap later where it is the first that came of its stream.
    /// What was sent before it, and lost, may have been the end of a lap: the sender has counted that, the receiver
    /// could not, and would refuse all that follows.
    @unsafe
    private func open(
        _ packet: UnsafeMutablePointer<UInt8>, _ header: SRTPHeader, count: Int, at place: SRTPPlace, isFirst: Bool
    ) -> SRTPPlace? {
        if unsafe sound.open(packet, header: header.length, count: count, at: place) { return place }
        guard isFirst, header.sequenceNumber < SRTPStream.lap / 2 else { return nil }
        let later = SRTPPlace(sound: place.source, index: place.index + SRTPStream.lap)
        let isGenuine =
            unsafe sound.restore(packet, header: header.length, count: count, at: place)
            && sound.open(packet, header: header.length, count: count, at: later)
        return isGenuine ? later : nil
    }
}
