/// How the time of a packet is played: from the packet, from redundancy, or concealed; and what the decoder takes
/// unheard before it.
extension PlayoutPlanner {
    /// Unplayed packets that still go through the decoder, to keep its state true; older ones no longer matter to it.
    static let caughtUpPackets: Int64 = 8
    /// So much of a sender is heard before anything is cut that is not in haste, frames (1 s): what its packets need
    /// shows only by then.
    private static let introduction: UInt64 = 48_000

    /// Plays a packet, without its first `skipped` frames.
    mutating func planPacket(_ packet: StoredPacket, skipped: Int, _ moment: Moment) -> PacketPlan {
        let gap = closeGap()
        var catchUp = CatchUp()
        let passed = planCatchUp(to: packet.position + Int64(skipped), packet.sequence, &catchUp)
        countSkipped(passed + skipped, moment)
        passOver(before: packet.sequence)
        let decoding = take(packet)
        (cursor.sequence, cursor.chainEnd) = (packet.sequence + 1, packet.end)
        delay.steer(packet.position, packet.framing.frames, moment)
        moveCursor(to: packet.end, timestamp: packet.timestamp + Int64(packet.framing.frames))
        let isWhole = gap?.hasSound != true && skipped == 0
        return PacketPlan(
            source: .packet(decoding), gap: gap, catchUp: catchUp, skipped: skipped, frames: packet.framing.frames,
            timestamp: packet.timestamp, arrival: packet.arrival, time: moment.time,
            lateness: lateness(packet.position, skipped, moment),
            excess: isWhole ? delay.excess(packet, moment) : nil)
    }

    /// Plays lost sound from the redundancy of the packet after it.
    mutating func planRedundancy(_ carrier: StoredPacket, frames: Int, skipped: Int, _ moment: Moment) -> PacketPlan {
        let gap = closeGap()
        var catchUp = CatchUp()
        let start = carrier.position - Int64(frames)
        let passed = planCatchUp(to: start + Int64(skipped), carrier.sequence - 1, &catchUp)
        countSkipped(passed + skipped, moment)
        passOver(before: carrier.sequence)
        cursor.redundancyUsedFrom = carrier.sequence
        (cursor.sequence, cursor.chainEnd) = (carrier.sequence, carrier.position)
        delay.steer(start, frames, moment)
        moveCursor(to: carrier.position, timestamp: carrier.timestamp)
        provisional = ProvisionalFrame(sequence: cursor.sequence - 1, end: cursor.chainEnd, frames: frames)
        return PacketPlan(
            source: .redundancy(of: carrier.sequence, frames: frames), gap: gap, catchUp: catchUp, skipped: skipped,
            frames: frames, timestamp: carrier.timestamp - Int64(frames), arrival: carrier.arrival, time: moment.time,
            lateness: lateness(start, skipped, moment))
    }

    /// Plays one packet's time of lost sound, made up by the true decoder, and led over to what follows if that is
    /// here.
    mutating func planLost(until end: Int64, next: StoredPacket, _ moment: Moment) -> PacketPlan {
        let gap = closeGap()
        var catchUp = CatchUp()
        countSkipped(planCatchUp(to: cursor.position, next.sequence, &catchUp), moment)
        let start = min(cursor.chainEnd, cursor.position)
        let frames = max(Int(min(Int64(cursor.packetFrames), end - start)), 1)
        let skipped = min(max(Int(cursor.position - start), 0), frames - 1)
        cursor.sequence = min(cursor.sequence + 1, next.sequence)
        cursor.chainEnd = start + Int64(frames)
        let isWhole = skipped == 0 && frames % Frames.grain == 0
        let timestamp = cursor.timestamp - Int64(skipped)
        moveCursor(to: start + Int64(frames), timestamp: timestamp + Int64(frames))
        provisional = ProvisionalFrame(sequence: cursor.sequence - 1, end: cursor.chainEnd, frames: frames)
        return PacketPlan(
            source: .concealment(frames: frames, lead: isWhole ? lead(to: next, from: cursor.chainEnd) : nil), gap: gap,
            catchUp: catchUp, skipped: skipped, frames: frames, timestamp: timestamp, arrival: moment.time,
            time: moment.time, lateness: lateness(start, skipped, moment))
    }

    /// What concealed sound that ends at `position` is led over to, if that is here.
    private func lead(to next: StoredPacket, from position: Int64) -> PacketPlan.Lead? {
        let missing = next.position - position
        let redundant = configuration.usesRedundancy ? next.framing.redundantFrames : 0
        let isAdjacent = abs(missing) < Int64(Frames.grain)
        guard !next.startsStream, next.framing.frames <= PacketPlan.Lead.longest, redundant <= PacketPlan.Lead.longest,
            isAdjacent || (redundant > 0 && abs(missing - Int64(redundant)) < Int64(Frames.grain))
        else { return nil }
        return PacketPlan.Lead(packet: next.sequence, redundantFrames: isAdjacent ? nil : redundant)
    }

    private mutating func moveCursor(to position: Int64, timestamp: Int64) {
        (cursor.position, cursor.timestamp) = (position, timestamp)
    }

    private func lateness(_ position: Int64, _ skipped: Int, _ moment: Moment) -> Int {
        Int(moment.time - position - delay.offset.wanted) - skipped
    }

    // MARK: After a packet

    /// The packet to be appended to a piece of `frames` that is being played, so that there is enough to shorten; nil
    /// if there is none, or no reason.
    mutating func planAppended(to frames: Int, excess: Int64) -> (packet: StoredPacket, decoding: PacketDecoding)? {
        guard excess >= Int64(TimeStretch.shortestSilentJump), frames < TimeStretch.pieceFrames,
            let packet = store[cursor.sequence], packet.position == cursor.position, !packet.startsStream,
            packet.generation == cursor.generation
        else { return nil }
        let decoding = take(packet)
        cursor.advance(past: packet)
        return (packet, decoding)
    }

    /// How the piece that is being played may be stretched.
    func planStretch(excess: Int64, at time: Int64) -> StretchPlan {
        StretchPlan(excess: Int(excess), time: time, isIntroduced: statistics.decodedSamples >= Self.introduction)
    }

    /// The packet that has come in the place of what stands for it.
    mutating func planReplacement() -> (decoding: PacketDecoding, frames: Int)? {
        guard let provisional, provisional.hasCome, let packet = store[provisional.sequence] else { return nil }
        self.provisional = nil
        return (take(packet), provisional.frames)
    }

    // MARK: Unheard

    /// Plans what lies before `position` to go through the decoder unheard, and stops at `last` at the latest; returns
    /// the frames of the packets.
    private mutating func planCatchUp(to position: Int64, _ last: Int64, _ steps: inout CatchUp) -> Int {
        var passed = 0
        while cursor.sequence < last {
            let matters = last - cursor.sequence <= Self.caughtUpPackets
            if let packet = store[cursor.sequence] {
                guard packet.end <= position else { return passed }
                passed += packet.framing.frames
                if matters { steps.append(.packet(take(packet))) } else { consume(packet) }
                statistics.packetsDiscarded += 1
                statistics.packetsLate += 1
                (cursor.sequence, cursor.chainEnd) = (packet.sequence + 1, max(cursor.chainEnd, packet.end))
                continue
            }
            guard let next = store.first(from: cursor.sequence) else { return passed }
            planMissing(to: position, next, last, &steps)
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

    /// Plans the missing packets before `next`, as redundancy or concealed, as far as `position`, where they still
    /// matter at `last`.
    private mutating func planMissing(to position: Int64, _ next: StoredPacket, _ last: Int64, _ steps: inout CatchUp) {
        let unit = Int64(cursor.packetFrames)
        let restored = configuration.usesRedundancy ? Int64(next.framing.redundantFrames) : 0
        let matters = last - next.sequence < Self.caughtUpPackets
        let run = matters ? min(next.sequence - cursor.sequence, Self.caughtUpPackets) : 0
        cursor.chainEnd = max(cursor.chainEnd, min(next.position, position) - run * unit)
        cursor.sequence = next.sequence - run
        while cursor.sequence < next.sequence, cursor.chainEnd + unit <= min(position, next.position - restored) {
            steps.append(.concealment(frames: Int(unit)))
            cursor.sequence += 1
            cursor.chainEnd += unit
        }
        guard restored > 0, next.position <= position, cursor.chainEnd <= next.position - restored else { return }
        steps.append(.redundancy(of: next.sequence, frames: Int(restored)))
        cursor.redundancyUsedFrom = next.sequence
        (cursor.sequence, cursor.chainEnd) = (next.sequence, next.position)
    }

    /// Lets packets go whose positions contradict their sequence numbers, so that playout never came to them.
    private mutating func passOver(before sequence: Int64) {
        while cursor.sequence < sequence, let packet = store.first(from: cursor.sequence), packet.sequence < sequence {
            consume(packet)
            statistics.packetsDiscarded += 1
            cursor.sequence = packet.sequence + 1
        }
    }

    /// Hands a packet to the decoder.
    private mutating func take(_ packet: StoredPacket) -> PacketDecoding {
        let decoding = PacketDecoding(
            sequence: packet.sequence, frames: packet.framing.frames,
            startsStream: packet.startsStream && cursor.hasDecoded, isCopy: packet.isCopy)
        cursor.hasDecoded = true
        cursor.generation = packet.generation
        cursor.packetFrames = packet.framing.frames
        cursor.lastAnnouncedSilence = packet.framing.announcesSilence
        consume(packet)
        return decoding
    }

    /// Lets a packet go that is decoded or passed over; its payload stays until another packet is kept.
    private mutating func consume(_ packet: StoredPacket) {
        if packet.framing.redundantFrames > 0, !packet.isCopy, cursor.redundancyUsedFrom != packet.sequence {
            statistics.fecPacketsDiscarded += 1
        }
        store.remove(packet.sequence)
    }
}
