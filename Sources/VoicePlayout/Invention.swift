extension PlayoutBuffer {
    /// The longest piece of made-up sound: 10 ms.
    private static let pieceFrames = 480
    /// The least the decoder is asked to make up: 20 ms. Opus's speech layer makes up no less than 10 and drops what was not
    /// asked for, so that the next piece would not join; and each call is a frame to it, after which it fades more (libopus
    /// 1.3, `opus_decode_frame` and `silk_PLC_conceal`). Over pieces of 10 ms this gains 0.01 PLCMOS at 10 to 30 % of loss.
    private static let leastInvented = 960
    /// How far invented sound is continued beyond a gap, for the phase search and the cross-fade: 12.5 ms.
    static let continuationFrames = 600

    /// Begins to make up sound, unless that has begun.
    mutating func openGap() {
        guard !gap.isOpen else { return }
        let isUnannouncedPause = cursor.pausesUnannounced && stretch.wasSilence
        gap = .opened(isPause: cursor.lastAnnouncedSilence || isUnannouncedPause)
    }

    /// Makes up the next piece of sound, of 10 ms or `limit` frames, if that is less.
    mutating func invent<Decoder: SpeechDecoder & ~Copyable>(
        atMost limit: Int, _ moment: Moment, _ decoder: inout Decoder
    ) {
        openGap()
        let frames = min(Self.pieceFrames, limit)
        let start = queue.beginPiece()
        continueSound(frames: frames, &decoder)
        queue.samples.write(continuation, 0..<frames, at: start)
        queue.endPiece(
            frames: frames, timestamp: cursor.timestamp, advances: false, origin: gap.isPause ? .pause : .concealment)
        decisions.note(gap.isPause ? .pause : .bridge, frames: frames, at: moment.time)
        if gap.isPause {
            statistics.pauseSamples += UInt64(frames)
            cursor.lastWasConcealed = false
        } else {
            countConcealed(frames, isSilent: gap.isSilent)
        }
        gap.lengthen(by: frames, nothingWaits: store.count == 0)
    }

    /// Writes what would follow in the gap to the front of `continuation`, faded as the gap's age asks.
    ///
    /// The decoder makes sound up in whole packets' lengths; what is not used stays behind it, for the next time.
    private mutating func continueSound<Decoder: SpeechDecoder & ~Copyable>(
        frames: Int, _ decoder: inout Decoder
    ) {
        if !gap.isSilent, !gap.hasSavedState {
            decoder.saveState(at: SavedState.beforeGuess)
            gap.savedState()
        }
        continuation.move(gap.spare, to: 0)
        let missing = frames - gap.spare.count
        let asked =
            missing > 0 ? max((missing + Frames.grain - 1) / Frames.grain * Frames.grain, Self.leastInvented) : 0
        let known = gap.spare.count
        guard !gap.isSilent, cursor.hasDecoded,
            asked == 0 || conceal(asked, &decoder, into: .continuation, at: known)
        else {
            for sample in 0..<frames { continuation[sample] = 0 }
            gap.spare = 0..<0
            return
        }
        gap.spare = frames..<known + asked
        guard gap.gain(ahead: frames) < 1 else { return }
        for sample in 0..<frames { continuation[sample] *= gap.gain(ahead: sample) }
    }

    /// Ends a gap for the sound that follows: its continuation is made, and the decoder goes back to its true state.
    ///
    /// - Returns: What the joint to the sound that follows has to know.
    mutating func closeGap<Decoder: SpeechDecoder & ~Copyable>(_ decoder: inout Decoder) -> Joint {
        guard gap.isOpen else { return Joint() }
        var joint = Joint()
        joint.followsGap = cursor.hasDecoded
        joint.inventedFrames = gap.gain(ahead: 0) == 1 ? gap.frames : -1
        if joint.followsGap { continueSound(frames: Self.continuationFrames, &decoder) }
        if gap.hasSavedState { decoder.restoreState(from: SavedState.beforeGuess) }
        gap = .closed
        return joint
    }

    /// Which storage decoded sound goes to.
    enum Destination { case decoded, continuation }

    /// Has the decoder conceal; false if it refused.
    mutating func conceal<Decoder: SpeechDecoder & ~Copyable>(
        _ frames: Int, _ decoder: inout Decoder, into destination: Destination = .decoded, at start: Int = 0
    ) -> Bool {
        do {
            switch destination {
            case .decoded:
                var room = decoded.mutableSpan(start..<start + frames)
                return try decoder.conceal(into: &room) == frames
            case .continuation:
                var room = continuation.mutableSpan(start..<start + frames)
                return try decoder.conceal(into: &room) == frames
            }
        } catch {
            return false
        }
    }

    mutating func countConcealed(_ frames: Int, isSilent: Bool) {
        statistics.concealedSamples += UInt64(frames)
        if isSilent { statistics.silentConcealedSamples += UInt64(frames) }
        if !cursor.lastWasConcealed { statistics.concealmentEvents += 1 }
        cursor.lastWasConcealed = true
    }
}

/// What is known of the joint between made-up and true sound.
struct Joint: BitwiseCopyable {
    /// Whether made-up sound came before.
    var followsGap = false
    /// Frames made up at full gain, or -1.
    var inventedFrames = 0
    /// Frames that the true decoder concealed meanwhile.
    var concealedFrames = 0
    /// Whether the true decoder took packets that were not played.
    var tookPackets = false

    /// Whether the true decoder made the same sound up itself, so that it joins by itself.
    var isSeamless: Bool { !followsGap || (!tookPackets && concealedFrames == inventedFrames) }
}
