/// Carries out what a ``PlayoutPlanner`` has planned: decodes, conceals, merges and stretches.
///
///     plan ─► catch up ─► decode, redundancy or concealment ─► merge with what was made up ─► SoundQueue ─► stretch
///
/// Knows nothing of networks or of time but what a plan says. Nothing is allocated after `init`.
struct SoundMaker: ~Copyable {
    private(set) var queue = SoundQueue()
    private var concealer = Concealer()
    private var stretch = TimeStretch()
    /// The sound just decoded.
    private var decoded = SoundStorage(capacity: PlayoutBuffer.longestPacketFrames)

    /// Makes it as new.
    mutating func reset() {
        queue.reset()
        concealer.reset()
        stretch.reset()
    }

    /// Fills the empty queue with sound that stands for no packet.
    mutating func make<Decoder: SpeechDecoder & ~Copyable>(_ bridge: Bridge, _ decoder: inout Decoder) {
        let start = queue.beginPiece()
        concealer.extend(bridge.frames, bridge.fade, hasSound: bridge.continuesSound, &decoder)
        queue.samples.write(concealer.sound, 0..<bridge.frames, at: start)
        queue.endPiece(
            frames: bridge.frames, timestamp: bridge.timestamp, advances: false,
            origin: bridge.isPause ? .pause : .concealment)
    }

    /// Fills the empty queue with the time of a packet.
    mutating func make<Decoder: SpeechDecoder & ~Copyable>(
        _ plan: borrowing PacketPlan, from store: borrowing PacketStore, _ decoder: inout Decoder
    ) -> MadeSound {
        var joint = concealer.end(plan.gap, &decoder)
        var made = MadeSound()
        for index in 0..<plan.catchUp.count {
            carryOut(plan.catchUp[index], from: store, &joint, &made, &decoder)
        }
        switch plan.source {
        case .packet(let packet): made.isReal = decode(packet, from: store, &made, &decoder)
        case .redundancy(let carrier, let frames):
            decoder.saveState(at: SavedState.beforeProvisional)
            made.isReal = decodeRedundancy(of: carrier, frames: frames, from: store, &decoder)
        case .concealment(let frames, let lead):
            decoder.saveState(at: SavedState.beforeProvisional)
            conceal(Frames.wholeGrains(frames), &decoder)
            if let lead, joint.isSeamless { leadOut(frames: frames, to: lead, from: store, &decoder) }
        }
        put(plan, joint, &made)
        return made
    }

    /// Appends a packet to the piece in the queue; returns whether the decoder took it.
    mutating func append<Decoder: SpeechDecoder & ~Copyable>(
        _ packet: PacketDecoding, from store: borrowing PacketStore, _ decoder: inout Decoder
    ) -> Bool {
        var made = MadeSound()
        let isReal = decode(packet, from: store, &made, &decoder)
        queue.append(decoded, frames: packet.frames)
        return isReal
    }

    /// Shortens or lengthens the piece in the queue.
    mutating func carryOut(_ plan: StretchPlan) -> Stretched { stretch.carryOut(plan, on: &queue) }

    /// Leads what is left of a provisional frame over to the packet that has come; returns whether the decoder took it.
    mutating func replace<Decoder: SpeechDecoder & ~Copyable>(
        lastFrames frames: Int, with packet: PacketDecoding, from store: borrowing PacketStore, _ decoder: inout Decoder
    ) -> Bool {
        decoder.restoreState(from: SavedState.beforeProvisional)
        var made = MadeSound()
        guard decode(packet, from: store, &made, &decoder) else { return false }
        let rest = min(queue.count, frames)
        let fade = min(rest, Waveform.fadeFrames)
        let (start, from) = (queue.tail - rest, frames - rest)
        for sample in 0..<fade {
            let weight = Waveform.fade(sample, of: fade)
            decoded[from + sample] = queue.samples[start + sample] * (1 - weight) + decoded[from + sample] * weight
        }
        queue.samples.write(decoded, from..<frames, at: start)
        return true
    }

    /// Plays up to `limit` frames into `block` at `offset`; returns how many.
    mutating func play(into block: inout MutableSpan<Float>, at offset: Int, limit: Int) -> Int {
        queue.play(into: &block, at: offset, limit: limit)
    }

    /// Keeps at most `frames` of what is ready and fades them out; returns how many were dropped.
    mutating func fadeOut(frames: Int) -> Int { queue.fadeOut(frames: frames) }

    // MARK: Decoding

    private mutating func carryOut<Decoder: SpeechDecoder & ~Copyable>(
        _ step: CatchUp.Step, from store: borrowing PacketStore, _ joint: inout Joint, _ made: inout MadeSound,
        _ decoder: inout Decoder
    ) {
        switch step {
        case .packet(let packet):
            _ = decode(packet, from: store, &made, &decoder)
            joint.tookPackets = true
        case .redundancy(let carrier, let frames):
            if decodeRedundancy(of: carrier, frames: frames, from: store, &decoder) { joint.tookPackets = true }
        case .concealment(let frames):
            let whole = frames / Frames.grain * Frames.grain
            if Concealer.conceal(whole, into: &decoded, at: 0, &decoder) { joint.concealedFrames += frames }
        }
    }

    /// Decodes a packet into `decoded`; if it cannot be, conceals it, and returns false.
    private mutating func decode<Decoder: SpeechDecoder & ~Copyable>(
        _ packet: PacketDecoding, from store: borrowing PacketStore, _ made: inout MadeSound, _ decoder: inout Decoder
    ) -> Bool {
        if packet.startsStream { decoder.reset() }
        if decoded.decode(packet.sequence, of: store, &decoder) == packet.frames { return true }
        made.refusedPackets += 1
        conceal(packet.frames, &decoder)
        return false
    }

    /// Decodes redundancy into `decoded`; if it cannot be, conceals, and returns false.
    private mutating func decodeRedundancy<Decoder: SpeechDecoder & ~Copyable>(
        of carrier: Int64, frames: Int, from store: borrowing PacketStore, _ decoder: inout Decoder
    ) -> Bool {
        let whole = Frames.wholeGrains(frames)
        if decoded.decodeRedundancy(carrier, of: store, frames: whole, &decoder) == whole { return true }
        conceal(whole, &decoder)
        return false
    }

    /// Has the decoder conceal into `decoded`; what it refuses is silence.
    private mutating func conceal<Decoder: SpeechDecoder & ~Copyable>(_ frames: Int, _ decoder: inout Decoder) {
        if Concealer.conceal(frames, into: &decoded, at: 0, &decoder) { return }
        for sample in 0..<frames { decoded[sample] = 0 }
    }

    // MARK: Merging

    /// Puts the decoded sound into the queue, merged with what was made up before it.
    private mutating func put(_ plan: borrowing PacketPlan, _ joint: Joint, _ made: inout MadeSound) {
        var (skipped, extended) = (plan.skipped, 0)
        let start = queue.beginPiece()
        if !joint.isSeamless {
            let lag = Merge.lag(
                from: concealer.sound, to: decoded, plan.skipped..<plan.frames, lateness: plan.lateness)
            extended = max(0, -lag)
            skipped += max(0, lag)
            Merge.crossFade(from: concealer.sound, extended, into: &decoded, skipped..<plan.frames)
            queue.samples.write(concealer.sound, 0..<extended, at: start)
        }
        let frames = plan.frames - skipped
        queue.samples.write(decoded, skipped..<plan.frames, at: start + extended)
        queue.endPiece(
            frames: frames + extended, timestamp: plan.timestamp + Int64(skipped), advances: true,
            origin: made.isReal ? plan.origin : .concealment)
        if extended > 0 { queue.holdTimestamp(frames: extended) }
        (made.frames, made.extendedFrames) = (frames + extended, extended)
    }

    /// Lets concealed sound run into what follows it: that is extended backwards by its own pitch, and faded in where
    /// both agree.
    private mutating func leadOut<Decoder: SpeechDecoder & ~Copyable>(
        frames: Int, to lead: PacketPlan.Lead, from store: borrowing PacketStore, _ decoder: inout Decoder
    ) {
        guard Merge.canLeadOut(frames), let known = concealer.lookAhead(lead, from: store, &decoder) else { return }
        Merge.leadOut(frames: frames, of: &decoded, to: &concealer.sound, known: known)
    }
}
