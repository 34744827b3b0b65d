internal import VoiceWire

/// What becomes of a packet that arrives.
extension PlayoutPlanner {
    /// Takes a packet.
    ///
    /// - Parameters:
    ///   - payload: One Opus packet, at most 1500 bytes; it is copied.
    ///   - header: Its RTP header; the timestamp counts at 48 kHz (RFC 7587).
    ///   - generation: What it says of its generation, the lowest 8 bits; nil where it says nothing, which is taken for
    ///     the one in force.
    ///   - now: When it arrived.
    mutating func insert(
        _ payload: Span<UInt8>, header: RTPHeader, generation: UInt8?, now: Duration
    ) -> InsertOutcome {
        admit(payload, header, generation, reach: 0, now: now).outcome
    }

    /// Takes a packet that repeats earlier ones (RFC 2198).
    ///
    /// Each repeated payload is kept for its own place, unless that was played or the packet itself has come. Blocks
    /// whose payload type is not that of the primary one are passed over.
    ///
    /// - Parameters:
    ///   - audio: The blocks; every one an Opus packet.
    ///   - header: Its RTP header; the timestamp is that of the primary block.
    ///   - generation: As of a packet without copies; whoever sends repeats nothing of an older one.
    ///   - now: When it arrived.
    /// - Returns: What happened to the primary block.
    mutating func insert(
        _ audio: borrowing RedundantAudio, header: RTPHeader, generation: UInt8?, now: Duration
    ) -> InsertOutcome {
        let blocks = configuration.usesRedundancy ? audio.redundantBlockCount : 0
        var reach = 0
        for index in 0..<blocks where audio.payloadType(at: index) == audio.primaryPayloadType {
            if audio.block(at: index).count > 0 { reach = max(reach, audio.timestampOffset(at: index)) }
        }
        let admitted = admit(audio.primary, header, generation, reach: reach, now: now)
        guard admitted.outcome != .interrupted, let place = admitted.place, !place.startsStream else {
            return admitted.outcome
        }
        for index in 0..<blocks where audio.payloadType(at: index) == audio.primaryPayloadType {
            keepCopy(
                audio.block(at: index), offset: audio.timestampOffset(at: index), of: place,
                generations.generation(of: generation), now: now)
        }
        return admitted.outcome
    }

    private mutating func admit(
        _ payload: Span<UInt8>, _ header: RTPHeader, _ generation: UInt8?, reach: Int, now: Duration
    ) -> (outcome: InsertOutcome, place: StreamTimeline.Place?) {
        let arrival = delay.arrival(at: now)
        guard payload.count <= PacketStore.payloadBytes, let framing = OpusFraming(payload) else {
            statistics.packetsMalformed += 1
            statistics.packetsDiscarded += 1
            return (.malformed, nil)
        }
        let isFirst = !timeline.hasBegun
        let place = timeline.place(header, frames: framing.frames, arrival: arrival, baseline: delay.target.baseline)
        guard let place else {
            statistics.packetsDiscarded += 1
            return (.unexpected, nil)
        }
        if let (sequence, position) = place.corrected, store.move(sequence, to: position) {
            statistics.streamRestarts -= 1
        }
        guard received.insert(place.sequence) else {
            statistics.packetsDuplicated += 1
            return (.duplicate, nil)
        }
        count(place, framing, isFirst: isFirst)
        delay.record(
            place, arrival: arrival, frames: framing.frames,
            reach: configuration.usesRedundancy ? max(reach, framing.redundantFrames) : 0)
        // Before anything is heard it may begin earlier, as long as what waits already has room behind that.
        let hasRoom = store.count == 0 || store.newest - place.sequence < Int64(store.capacity)
        if !cursor.hasDecoded, place.sequence < cursor.sequence, hasRoom {
            cursor.restart(sequence: place.sequence, position: place.position, timestamp: place.timestamp)
        }
        let packet = StoredPacket(
            sequence: place.sequence, position: place.position, timestamp: place.timestamp, arrival: arrival,
            framing: framing, startsStream: place.startsStream, isCopy: false,
            generation: generations.generation(of: generation), byteCount: payload.count)
        return (settle(packet, payload, at: place, now: now), place)
    }

    private mutating func count(_ place: StreamTimeline.Place, _ framing: OpusFraming, isFirst: Bool) {
        if isFirst {
            cursor = PlayoutCursor(sequence: place.sequence, position: place.position, timestamp: place.timestamp)
        } else if place.startsStream {
            statistics.streamRestarts += 1
        }
        cursor.count(place.sequence, newest: timeline.newest.sequence, &statistics)
        if framing.redundantFrames > 0 { statistics.fecPacketsReceived += 1 }
    }

    /// Keeps a packet that has a place, if it is not of what was interrupted, its time has not passed and there is
    /// room.
    private mutating func settle(
        _ packet: StoredPacket, _ payload: Span<UInt8>, at place: StreamTimeline.Place, now: Duration
    ) -> InsertOutcome {
        if generations.isOver(packet.generation) {
            statistics.packetsDiscarded += 1
            // Nothing is to be made up in its place; what waits already is what follows.
            let next = store.first(from: cursor.sequence)?.sequence ?? .max
            if (cursor.sequence..<max(cursor.sequence, next)).contains(place.sequence) {
                cursor.pass(place, frames: packet.framing.frames)
            }
            return .interrupted
        }
        guard place.sequence >= cursor.sequence else {
            if let provisional, provisional.standsFor(place, packet.framing), store.isFree(place.sequence) {
                store.keep(packet, payload: payload)
                self.provisional?.hasCome = true
                return .stored
            }
            statistics.packetsDiscarded += 1
            statistics.packetsLate += 1
            return .late
        }
        guard makeRoom(for: place.sequence, now: now) else {
            statistics.packetsDiscarded += 1
            return .overrun
        }
        if let copy = store[place.sequence], copy.isCopy { statistics.fecPacketsDiscarded += 1 }
        store.keep(packet, payload: payload)
        return .stored
    }

    /// Keeps a repeated payload that begins `offset` frames before the packet that carries it, if nothing better is
    /// there.
    private mutating func keepCopy(
        _ payload: Span<UInt8>, offset: Int, of carrier: StreamTimeline.Place, _ generation: UInt32, now: Duration
    ) {
        guard payload.count > 0, payload.count <= PacketStore.payloadBytes, let framing = OpusFraming(payload),
            offset >= framing.frames, offset % framing.frames == 0
        else { return }
        statistics.fecPacketsReceived += 1
        // The sender's packets are of one length, so that the distance in time is that in packets.
        let sequence = carrier.sequence - Int64(offset / framing.frames)
        guard sequence >= cursor.sequence, carrier.sequence - sequence < Int64(store.capacity),
            // A carrier may be refused for want of room, and what it repeats may still have its place.
            sequence - cursor.sequence < Int64(store.capacity), !received.contains(sequence), store[sequence] == nil
        else {
            statistics.fecPacketsDiscarded += 1
            return
        }
        let packet = StoredPacket(
            sequence: sequence, position: carrier.position - Int64(offset),
            timestamp: carrier.timestamp - Int64(offset), arrival: delay.arrival(at: now), framing: framing,
            startsStream: false, isCopy: true, generation: generation, byteCount: payload.count)
        store.keep(packet, payload: payload)
    }

    /// Makes room for a packet: where somebody listens, by refusing those too far ahead; else the oldest go.
    private mutating func makeRoom(for sequence: Int64, now: Duration) -> Bool {
        let oldest = sequence - Int64(store.capacity) + 1
        guard cursor.sequence < oldest else { return true }
        if delay.clock.isRunning(at: now), let waiting = store.first(from: cursor.sequence), waiting.sequence < oldest {
            return false
        }
        while let waiting = store.first(from: cursor.sequence), waiting.sequence < oldest {
            store.remove(waiting.sequence)
            statistics.packetsDiscarded += 1
        }
        cursor.sequence = oldest
        return true
    }
}
