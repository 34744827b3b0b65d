/// Decoded or concealed sound on its way into the queue.
struct Played: BitwiseCopyable {
    /// Frames at its beginning that are not played.
    var skipped: Int
    /// Frames in `decoded`, those skipped included.
    let frames: Int
    /// Media position and RTP timestamp of its first frame.
    let position: Int64
    let timestamp: Int64
    /// When its packet came.
    let arrival: Int64
    let origin: PlayedSegment.Origin
    /// Whether it comes from a packet.
    var isReal: Bool { origin != .concealment }

    var end: Int64 { position + Int64(frames) }
}

extension PlayoutBuffer {
    /// Phase search at a recovery: 4 ms.
    private static let alignmentFrames = 192
    /// A phase is taken if the two sides are at least this similar there.
    private static let alignedSimilarity: Float = 0.3
    /// Invented sound quieter than this has no phase: 30 of 32768.
    private static let audible: Float = 9e-4

    /// Puts sound into the queue, cross-faded from what was made up before it.
    mutating func put(_ sound: Played, _ joint: Joint, _ moment: Moment) {
        var skipped = sound.skipped
        var extended = 0
        let start = queue.beginPiece()
        if !joint.isSeamless {
            let lag = joiningLag(sound, moment)
            extended = max(0, -lag)
            skipped += max(0, lag)
            let fade = min(Waveform.fadeFrames, sound.frames - skipped)
            for sample in 0..<fade {
                let weight = Waveform.fade(sample, of: fade)
                decoded[skipped + sample] =
                    continuation[extended + sample] * (1 - weight) + decoded[skipped + sample] * weight
            }
            queue.samples.write(continuation, 0..<extended, at: start)
        }
        let frames = sound.frames - skipped
        queue.samples.write(decoded, skipped..<sound.frames, at: start + extended)
        queue.endPiece(
            frames: frames + extended, timestamp: sound.timestamp + Int64(skipped), advances: true,
            origin: sound.origin)
        let kind: PlayoutDecision.Kind =
            switch sound.origin {
            case .packet: .play
            case .redundancy: .restore
            case .concealment, .pause: .conceal
            }
        decisions.note(kind, frames: frames + extended, at: moment.time)
        if extended > 0 { queue.holdTimestamp(frames: extended) }
        if sound.isReal {
            if extended > 0 { countConcealed(extended, isSilent: false) }
            countPlayed(frames, arrival: sound.arrival, at: moment.time)
        } else {
            countConcealed(frames + extended, isSilent: false)
        }
        cursor.position = sound.end
        cursor.timestamp = sound.timestamp + Int64(sound.frames)
    }

    /// Where the made-up sound and the true one agree best: frames into the true one if positive, as far as the delay is
    /// above what is wanted, or frames further into the made-up one if negative.
    private func joiningLag(_ sound: Played, _ moment: Moment) -> Int {
        let frames = sound.frames - sound.skipped
        let fade = min(Waveform.fadeFrames, frames)
        guard Waveform.rootMeanSquare(continuation.span(0..<fade)) > Self.audible else { return 0 }
        let excess = Int(moment.time - sound.position - offset.wanted) - sound.skipped
        let furthest = min(max(excess, 0), 2 * Self.alignmentFrames, frames - fade)
        var best = (lag: 0, similarity: Self.alignedSimilarity)
        for lag in stride(from: -Self.alignmentFrames, through: furthest, by: 4) {
            let (made, real) = (max(0, -lag), sound.skipped + max(0, lag))
            let similarity = Waveform.similarity(
                continuation.span(made..<made + fade), decoded.span(real..<real + fade))
            if similarity > best.similarity { best = (lag, similarity) }
        }
        return best.lag
    }

    /// Lets lost sound run into what follows it: that is extended backwards by its own pitch, and faded in where both agree.
    mutating func leadOut<Decoder: SpeechDecoder & ~Copyable>(
        frames: Int, next: StoredPacket, _ decoder: inout Decoder
    ) {
        let fade = Waveform.fadeFrames
        let half = Self.longestPacketFrames / 2
        guard frames <= half, frames > 2 * fade,
            let known = peek(next, from: cursor.chainEnd, limit: half, &decoder), known >= 2 * fade
        else { return }
        let lags = StretchState.shortestJump...min(StretchState.longestCut, known - fade)
        var search = LagSearch(frames: fade)
        let pitch = search.bestLag(in: continuation, at: 0, direction: 1, lags: lags)
        guard pitch.similarity > 0.5 else { return }
        for sample in stride(from: frames - 1, through: 0, by: -1) {
            let source = sample + pitch.lag
            continuation[half + sample] = source < frames ? continuation[half + source] : continuation[source - frames]
        }
        var best = (at: frames - fade, similarity: -Float.infinity)
        for at in stride(from: Self.alignmentFrames, through: frames - fade, by: 12) {
            let similarity = Waveform.similarity(
                decoded.span(at..<at + fade), continuation.span(half + at..<half + at + fade))
            if similarity > best.similarity { best = (at, similarity) }
        }
        for sample in best.at..<frames {
            let weight = sample - best.at < fade ? Waveform.fade(sample - best.at, of: fade) : 1
            decoded[sample] = decoded[sample] * (1 - weight) + continuation[half + sample] * weight
        }
    }

    /// Decodes what follows at `position` into `continuation` and takes the decoder back; nil if it is not here.
    private mutating func peek<Decoder: SpeechDecoder & ~Copyable>(
        _ next: StoredPacket, from position: Int64, limit: Int, _ decoder: inout Decoder
    ) -> Int? {
        let missing = next.position - position
        let redundant = configuration.usesRedundancy ? next.framing.redundantFrames : 0
        let isAdjacent = abs(missing) < Int64(Frames.grain)
        guard !next.startsStream, next.framing.frames <= limit, redundant <= limit,
            isAdjacent || (redundant > 0 && abs(missing - Int64(redundant)) < Int64(Frames.grain))
        else { return nil }
        decoder.saveState(at: SavedState.beforeGuess)
        defer { decoder.restoreState(from: SavedState.beforeGuess) }
        guard isAdjacent else {
            return Self.decodeRedundancy(
                next.sequence, of: store, frames: redundant, into: &continuation, &decoder)
        }
        return Self.decode(next.sequence, of: store, into: &continuation, &decoder).map { min($0, limit) }
    }

    /// Counts sound from a packet.
    mutating func countPlayed(_ frames: Int, arrival: Int64, at time: Int64) {
        let seconds = Double(frames) / Double(Frames.perSecond)
        statistics.decodedSamples += UInt64(frames)
        statistics.jitterBufferEmittedCount += UInt64(frames)
        statistics.jitterBufferDelay += seconds * Double(max(0, time - arrival))
        statistics.jitterBufferTargetDelay += seconds * Double(max(0, offset.wanted - target.baseline))
        statistics.jitterBufferMinimumDelay += seconds * Double(max(0, target.delay))
        cursor.lastWasConcealed = false
    }
}
