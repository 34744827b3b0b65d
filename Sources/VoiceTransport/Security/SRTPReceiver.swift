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
            guard let place = unsafe open(packet, header, count: length, of: stream),
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

    /// Where a packet of sound is genuine: at the place that RFC 3711 would look at, or a lap later. The sender has
    /// counted the end of a lap; where all was lost in which that showed, the receiver could not, and would refuse all
    /// that follows. A forged packet costs up to three decryptions for it.
    @unsafe
    private func open(
        _ packet: UnsafeMutablePointer<UInt8>, _ header: SRTPHeader, count: Int, of stream: SRTPStream
    ) -> SRTPPlace? {
        guard let index = stream.index(of: header.sequenceNumber) else { return nil }
        if stream.sound.admits(index) {
            let place = SRTPPlace(sound: header.source, index: index)
            if unsafe sound.open(packet, header: header.length, count: count, at: place) { return place }
            guard unsafe sound.restore(packet, header: header.length, count: count, at: place) else { return nil }
        }
        guard index + SRTPStream.lap < SRTPStream.soundLimit else { return nil }
        let later = SRTPPlace(sound: header.source, index: index + SRTPStream.lap)
        return unsafe sound.open(packet, header: header.length, count: count, at: later) ? later : nil
    }
}
