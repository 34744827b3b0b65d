/// What is remembered of one SSRC in one direction.
struct SRTPStream: BitwiseCopyable {
    /// 512 packets. What more have overtaken is of no use to a listener: it is 1.3 s late with the shortest packets, of
    /// 2.5 ms, and 10 s with those of 20 ms. A freeze of the network overtakes nothing, however long it is.
    var sound = ReplayWindow<9>()
    /// 128 reports, of which there are a few in a second.
    var reports = ReplayWindow<3>()

    /// Sequence numbers until they begin again.
    static let lap: UInt64 = 1 << 16
    /// The most packets of one SSRC under one key (RFC 3711 section 9.2): as many as there are indices.
    static let soundLimit: UInt64 = 1 << 48
    /// The most reports under one key.
    static let reportLimit: UInt64 = 1 << 31

    /// The index of the packet with this sequence number: the one that is nearest to the newest (RFC 3711 appendix A),
    /// or, where that lies behind the window, a lap later: nobody could take it, and a stream that was not sent for more
    /// than half a lap, or that begins again, goes on. Nil beyond the last there is.
    func index(of sequenceNumber: UInt16) -> UInt64? {
        guard let nearest = nearestIndex(of: sequenceNumber) else { return nil }
        guard sound.isBehind(nearest) else { return nearest }
        return nearest + Self.lap < Self.soundLimit ? nearest + Self.lap : nil
    }

    /// Where the nearest would be below 0, it is the next above, as in libsrtp: a stream that leaps ahead at its
    /// beginning goes on.
    private func nearestIndex(of sequenceNumber: UInt16) -> UInt64? {
        let number = UInt64(sequenceNumber)
        guard let newest = sound.newest else { return number }
        let lap = Self.lap
        let middle = lap / 2
        let begin = newest - newest % lap
        let last = newest % lap
        if last < middle {
            return number > last + middle && begin > 0 ? begin - lap + number : begin + number
        }
        guard number + middle < last else { return begin + number }
        return begin + lap < Self.soundLimit ? begin + lap + number : nil
    }
}

/// What is remembered of the SSRCs of one direction. Nothing is ever forgotten while the keys live: a forgotten SSRC
/// could be used, or replayed, from its beginning.
struct SRTPStreams {
    /// SSRCs at most, each with 112 bytes. A client has a few; a room's server one for each talker.
    static let limit = 4096

    // The standard library's dictionary seeds its hashes at random: nobody can choose SSRCs that collide.
    private var places: [UInt32: Int] = [:]
    private var streams: [SRTPStream] = []

    var count: Int { streams.count }
    var isFull: Bool { streams.count >= Self.limit }

    /// Where an SSRC is.
    func place(of source: UInt32) -> Int? { places[source] }

    /// Makes room for an SSRC that is not there. Nil when there are too many.
    mutating func add(_ source: UInt32) -> Int? {
        guard !isFull else { return nil }
        places[source] = streams.count
        streams.append(SRTPStream())
        return streams.count - 1
    }

    subscript(place: Int) -> SRTPStream {
        _read { yield streams[place] }
        _modify { yield &streams[place] }
    }
}
