extension PlayoutBuffer {
    /// Unplayed packets that still go through the decoder, to keep its state true; older ones no longer matter to it.
    static let caughtUpPackets: Int64 = 8

    /// Plays a packet, without its first `skipped` frames.
    mutating func playPacket<Decoder: SpeechDecoder & ~Copyable>(
        _ packet: StoredPacket, skipped: Int, _ moment: Moment, _ decoder: inout Decoder
    ) {
        var joint = closeGap(&decoder)
        let passed = catchUp(to: packet.position + Int64(skipped), packet.sequence, &joint, &decoder)
        countSkipped(passed + skipped, moment)
        passOver(before: packet.sequence)
        let frames = packet.framing.frames
        let isReal = decode(packet, &decoder)
        (cursor.sequence, cursor.chainEnd) = (packet.sequence + 1, packet.end)
        steer(packet.position, frames, moment)
        let played = Played(
            skipped: skipped, frames: frames, position: packet.position, timestamp: packet.timestamp,
            arrival: packet.arrival, origin: isReal ? packet.isCopy ? .redundancy : .packet : .concealment)
        let stretchable = !joint.followsGap && skipped == 0 && isReal
        put(played, joint, moment)
        if stretchable {
            let excess = excess(packet, moment)
            gather(excess: excess, moment, &decoder)
            stretchPiece(excess: Int(excess), moment)
        }
    }

    /// Delay above what is wanted when a packet is played, frames; negative if it is too short.
    ///
    /// While packets come later than the target knows, delay is not too much, as far as they need it when a pull begins.
    private func excess(_ packet: StoredPacket, _ moment: Moment) -> Int64 {
        let delay = moment.time - packet.position
        let excess = delay - offset.wanted
        guard excess > 0, let unexpected = target.unexpectedOffset else { return excess }
        let spare = max(0, delay - unexpected - PlayoutOffset.margin)
        return min(excess, spare - spare % Int64(offset.step(for: packet.framing.frames)))
    }

    /// Plays lost sound from the redundancy of the packet after it.
    mutating func playRedundancy<Decoder: SpeechDecoder & ~Copyable>(
        _ carrier: StoredPacket, frames: Int, skipped: Int, _ moment: Moment, _ decoder: inout Decoder
    ) {
        var joint = closeGap(&decoder)
        let start = carrier.position - Int64(frames)
        let passed = catchUp(to: start + Int64(skipped), carrier.sequence - 1, &joint, &decoder)
        countSkipped(passed + skipped, moment)
        passOver(before: carrier.sequence)
        decoder.saveState(at: SavedState.beforeStopgap)
        let isReal = decodeRedundancy(carrier, frames: frames, &decoder)
        (cursor.sequence, cursor.chainEnd) = (carrier.sequence, carrier.position)
        steer(start, frames, moment)
        let played = Played(
            skipped: skipped, frames: frames, position: start, timestamp: carrier.timestamp - Int64(frames),
            arrival: carrier.arrival, origin: isReal ? .redundancy : .concealment)
        put(played, joint, moment)
        stopgap = Stopgap(sequence: cursor.sequence - 1, end: cursor.chainEnd, frames: frames)
    }

    /// Plays one packet's time of lost sound, made up by the true decoder, and led over to what follows if that is here.
    mutating func playLost<Decoder: SpeechDecoder & ~Copyable>(
        until end: Int64, next: StoredPacket, _ moment: Moment, _ decoder: inout Decoder
    ) {
        var joint = closeGap(&decoder)
        countSkipped(catchUp(to: cursor.position, next.sequence, &joint, &decoder), moment)
        let start = min(cursor.chainEnd, cursor.position)
        let frames = max(Int(min(Int64(cursor.packetFrames), end - start)), 1)
        let skipped = min(max(Int(cursor.position - start), 0), frames - 1)
        let asked = (frames + Frames.grain - 1) / Frames.grain * Frames.grain
        decoder.saveState(at: SavedState.beforeStopgap)
        if !conceal(asked, &decoder) { silenceDecoded(frames) }
        cursor.sequence = min(cursor.sequence + 1, next.sequence)
        cursor.chainEnd = start + Int64(frames)
        if skipped == 0, frames == asked, joint.isSeamless { leadOut(frames: frames, next: next, &decoder) }
        let played = Played(
            skipped: skipped, frames: frames, position: start, timestamp: cursor.timestamp - Int64(skipped),
            arrival: moment.time, origin: .concealment)
        put(played, joint, moment)
        stopgap = Stopgap(sequence: cursor.sequence - 1, end: cursor.chainEnd, frames: frames)
    }

    /// Counts sound that came and is not played.
    private mutating func countSkipped(_ frames: Int, _ moment: Moment) {
        guard frames > 0 else { return }
        statistics.skippedSamples += UInt64(frames)
        decisions.note(.skip, frames: frames, at: moment.time)
    }

    /// Takes what lies before `position` through the decoder unheard, and stops at `last` at the latest; returns the frames of the packets.
    private mutating func catchUp<Decoder: SpeechDecoder & ~Copyable>(
        to position: Int64, _ last: Int64, _ joint: inout Joint, _ decoder: inout Decoder
    ) -> Int {
        var passed = 0
        while cursor.sequence < last {
            let matters = last - cursor.sequence <= Self.caughtUpPackets
            if let packet = store[cursor.sequence] {
                guard packet.end <= position else { return passed }
                passed += packet.framing.frames
                if matters { _ = decode(packet, &decoder) } else { consume(packet) }
                if matters { joint.tookPackets = true }
                statistics.packetsDiscarded += 1
                statistics.packetsLate += 1
                (cursor.sequence, cursor.chainEnd) = (packet.sequence + 1, max(cursor.chainEnd, packet.end))
                continue
            }
            guard let next = store.first(from: cursor.sequence) else { return passed }
            catchUpMissing(to: position, next, last, &joint, &decoder)
            guard cursor.chainEnd <= position, catchUpAdvanced(next, position) else { return passed }
        }
        return passed
    }

    /// Whether the missing packets before `next` are all behind, and the cursor was moved there.
    private mutating func catchUpAdvanced(_ next: StoredPacket, _ position: Int64) -> Bool {
        guard next.position <= position || cursor.sequence == next.sequence else { return false }
        cursor.sequence = next.sequence
        return true
    }

    /// Takes the missing packets before `next` through the decoder, as redundancy or concealed, as far as `position`, where they still matter
    /// at `last`.
    private mutating func catchUpMissing<Decoder: SpeechDecoder & ~Copyable>(
        to position: Int64, _ next: StoredPacket, _ last: Int64, _ joint: inout Joint, _ decoder: inout Decoder
    ) {
        let unit = Int64(cursor.packetFrames)
        let restored = configuration.usesRedundancy ? Int64(next.framing.redundantFrames) : 0
        let matters = last - next.sequence < Self.caughtUpPackets
        let run = matters ? min(next.sequence - cursor.sequence, Self.caughtUpPackets) : 0
        cursor.chainEnd = max(cursor.chainEnd, min(next.position, position) - run * unit)
        cursor.sequence = next.sequence - run
        while cursor.sequence < next.sequence, cursor.chainEnd + unit <= min(position, next.position - restored) {
            if conceal(Int(unit) / Frames.grain * Frames.grain, &decoder) { joint.concealedFrames += Int(unit) }
            cursor.sequence += 1
            cursor.chainEnd += unit
        }
        guard restored > 0, next.position <= position, cursor.chainEnd <= next.position - restored else { return }
        if decodeRedundancy(next, frames: Int(restored), &decoder) { joint.tookPackets = true }
        (cursor.sequence, cursor.chainEnd) = (next.sequence, next.position)
    }

    /// Decodes a packet into `decoded`; if it cannot be, conceals it, and returns false.
    mutating func decode<Decoder: SpeechDecoder & ~Copyable>(
        _ packet: StoredPacket, _ decoder: inout Decoder
    ) -> Bool {
        if packet.startsStream, cursor.hasDecoded { decoder.reset() }
        let succeeded = Self.decode(packet.sequence, of: store, into: &decoded, &decoder) == packet.framing.frames
        if !succeeded {
            statistics.packetsMalformed += 1
            if !conceal(packet.framing.frames, &decoder) { silenceDecoded(packet.framing.frames) }
        }
        cursor.hasDecoded = true
        cursor.packetFrames = packet.framing.frames
        cursor.lastAnnouncedSilence = packet.framing.announcesSilence
        consume(packet)
        return succeeded
    }

    /// Decodes redundancy into `decoded`; if it cannot be, conceals, and returns false.
    private mutating func decodeRedundancy<Decoder: SpeechDecoder & ~Copyable>(
        _ carrier: StoredPacket, frames: Int, _ decoder: inout Decoder
    ) -> Bool {
        let asked = (frames + Frames.grain - 1) / Frames.grain * Frames.grain
        cursor.redundancyUsedFrom = carrier.sequence
        let restored = Self.decodeRedundancy(carrier.sequence, of: store, frames: asked, into: &decoded, &decoder)
        if restored == asked { return true }
        if !conceal(asked, &decoder) { silenceDecoded(asked) }
        return false
    }

    private mutating func silenceDecoded(_ frames: Int) {
        for sample in 0..<frames { decoded[sample] = 0 }
    }

    /// Lets packets go whose positions contradict their sequence numbers, so that playout never came to them.
    private mutating func passOver(before sequence: Int64) {
        while cursor.sequence < sequence, let packet = store.first(from: cursor.sequence), packet.sequence < sequence {
            consume(packet)
            statistics.packetsDiscarded += 1
            cursor.sequence = packet.sequence + 1
        }
    }

    /// Lets a packet go that has been decoded or passed over.
    private mutating func consume(_ packet: StoredPacket) {
        if packet.framing.redundantFrames > 0, !packet.isCopy, cursor.redundancyUsedFrom != packet.sequence {
            statistics.fecPacketsDiscarded += 1
        }
        store.remove(packet.sequence)
    }

    /// Appends short packets until there is enough to shorten, if there is too much delay.
    private mutating func gather<Decoder: SpeechDecoder & ~Copyable>(
        excess: Int64, _ moment: Moment, _ decoder: inout Decoder
    ) {
        guard excess >= Int64(StretchState.shortestSilentJump) else { return }
        while queue.count < StretchState.pieceFrames, let packet = store[cursor.sequence],
            packet.position == cursor.position, !packet.startsStream
        {
            let frames = packet.framing.frames
            guard decode(packet, &decoder) else {
                // What was concealed in its place is played as the next piece would be.
                countConcealed(frames, isSilent: false)
                append(packet, isReal: false, moment)
                return
            }
            append(packet, isReal: true, moment)
        }
    }

    private mutating func append(_ packet: StoredPacket, isReal: Bool, _ moment: Moment) {
        let frames = packet.framing.frames
        // It is played after what it was gathered to.
        if isReal { countPlayed(frames, arrival: packet.arrival, at: moment.time + Int64(queue.count)) }
        queue.append(decoded, frames: frames)
        cursor.advance(past: packet)
    }
}
