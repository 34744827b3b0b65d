extension PlayoutBuffer {
    /// Puts the next piece of sound into the empty queue.
    ///
    /// - Parameters:
    ///   - moment: When its first sample is played.
    ///   - needed: What the present pull still asks for. No more is made up: by the next pull a packet may have come.
    mutating func produce<Decoder: SpeechDecoder & ~Copyable>(
        at moment: Moment, needed: Int, decoder: inout Decoder
    ) {
        stopgap = nil
        if gap.waits {
            let remaining = remainingWait(moment)
            guard remaining == 0 else { return invent(atMost: min(remaining, needed), moment, &decoder) }
        }
        skipExcess(moment)
        while true {
            switch upcoming() {
            case .unknown:
                return invent(atMost: needed, moment, &decoder)
            case .lost(let end, let next):
                if pay(until: end) { continue }
                return playLost(until: end, next: next, moment, &decoder)
            case .pause(let next):
                if pay(until: next.position) { continue }
                openGap()
                if !gap.isPause { cursor.pausesUnannounced = true }
                gap.becomePause()
                let remaining = remainingWait(moment)
                guard remaining == 0 else { return invent(atMost: min(remaining, needed), moment, &decoder) }
                // The wait may have ended for a later packet; where its position contradicts its sequence number, the pause would not.
                if cursor.position < next.position {
                    (cursor.position, cursor.timestamp) = (next.position, next.timestamp)
                }
            case .packet(let packet, let skipped):
                if settleLateness(packet.framing.frames, moment) { continue }
                return playPacket(packet, skipped: skipped, moment, &decoder)
            case .redundancy(let carrier, let frames, let skipped):
                if settleLateness(frames, moment) { continue }
                return playRedundancy(carrier, frames: frames, skipped: skipped, moment, &decoder)
            }
        }
    }

    /// Frames until the next packet is due, or `Int.max` while none has come; at 0 the cursor stands at the packet.
    private mutating func remainingWait(_ moment: Moment) -> Int {
        guard var packet = store.first(from: cursor.sequence) else { return .max }
        steer(packet.position, packet.framing.frames, moment)
        // Where sound was due, what comes after the freeze is heard, though late; after a pause nothing is.
        let kept = gap.isFreeze ? Int64(Frames.of(configuration.keptAfterFreeze)) : 0
        while packet.end + offset.wanted + kept <= moment.time, let next = store.first(from: packet.sequence + 1) {
            packet = next
        }
        let due = packet.position + offset.wanted
        guard moment.time >= due else { return Int(min(due - moment.time, Int64(Frames.perSecond))) }
        if gap.isFreeze { catchUpOffset = moment.time - packet.position }
        let isNext = packet.sequence == cursor.sequence && packet.position > cursor.position
        if isNext, cursor.hasDecoded, !gap.isPause { cursor.pausesUnannounced = true }
        if !cursor.hasDecoded || packet.position > cursor.position { cursor.timestamp = packet.timestamp }
        cursor.position = cursor.hasDecoded ? max(cursor.position, packet.position) : packet.position
        if store.first(from: cursor.sequence)?.sequence == packet.sequence, !cursor.hasDecoded {
            (cursor.sequence, cursor.chainEnd) = (packet.sequence, packet.position)
        }
        gap.endWait()
        return 0
    }

    /// Follows the target for a packet that begins at `position`.
    mutating func steer(_ position: Int64, _ frames: Int, _ moment: Moment) {
        guard let aim = target.offset else { return }
        offset.follow(aim + Int64(clock.earliness), position: position, frames: frames, pull: moment.pull)
    }

    /// Has too much waiting sound skipped, as if its time had been made up.
    private mutating func skipExcess(_ moment: Moment) {
        guard store.count > 0, cursor.hasDecoded else { return }
        let played = moment.time - cursor.position
        let excess = played - max(offset.wanted, target.newestOffset)
        if let former = catchUpOffset { catchUpOffset = former > offset.wanted ? min(former, played) : nil }
        let allowed = Int64(Frames.of(configuration.skippedExcess))
        guard excess > allowed, catchUpOffset.map({ played > $0 + allowed }) ?? true else { return }
        openGap()
        gap.held = max(gap.held, Int(excess))
    }

    /// Lets time that was made up stand for sound that is gone for good; false if there is no such time.
    private mutating func pay(until end: Int64) -> Bool {
        let frames = min(Int64(gap.held), end - cursor.position)
        guard frames > 0 else { return false }
        cursor.position += frames
        cursor.timestamp += frames
        gap.held -= Int(frames)
        return true
    }

    /// Time made up that sound may come later for without being cut, frames (10 ms).
    private static let keptInvention = 480

    /// Drops sound that was only late, as far as the delay would otherwise exceed what is needed; false if none is.
    private mutating func settleLateness(_ frames: Int, _ moment: Moment) -> Bool {
        guard gap.held > 0 else { return false }
        defer { gap.held = 0 }
        // So little is not worth a cut: the delay has grown by it, and is stretched back where nobody hears it.
        guard gap.held > Self.keptInvention else { return false }
        let need = max(target.offset ?? 0, target.newestOffset) + Int64(Frames.of(configuration.keptLateness))
        let excess = min(moment.time - cursor.position - need, Int64(gap.held))
        let step = Int64(offset.step(for: frames))
        let skipped = excess - excess % step
        guard skipped > 0 else { return false }
        cursor.position += skipped
        cursor.timestamp += skipped
        return true
    }
}

/// When a piece of sound is produced, on the pull clock.
struct Moment: BitwiseCopyable {
    /// When its first sample is played.
    let time: Int64
    /// When the present pull began.
    let pull: Int64
}
