/// The decoded sound that is ready to be played, one piece at a time, with what was played before it still at hand.
struct SoundQueue: ~Copyable {
    /// How much of what was played is kept: 25 ms, for the longest jump back and its cross-fade.
    static let historyFrames = 1200
    /// The longest piece: 120 ms, two jumps back and a recovery.
    static let pieceFrames = 8192

    /// History, then the piece.
    var samples = SoundStorage(capacity: SoundQueue.historyFrames + SoundQueue.pieceFrames)
    /// First sample not yet played.
    private(set) var head = SoundQueue.historyFrames
    /// End of the piece.
    private(set) var tail = SoundQueue.historyFrames

    /// RTP timestamp of the piece's first sample.
    private var timestamp: Int64 = 0
    private var pieceStart = SoundQueue.historyFrames
    /// Whether the timestamps run on with the samples; else it stands still: nobody sent this sound.
    private var advances = false
    private var origin = PlayedSegment.Origin.pause
    /// Sample of the piece at which it jumps, and by how much: ahead if positive, back if negative.
    private var jump = (at: 0, frames: 0)

    var count: Int { tail - head }

    /// Where a piece begins. Call it only when the queue is empty.
    mutating func beginPiece() -> Int {
        precondition(head == tail)
        samples.move(head - Self.historyFrames..<head, to: 0)
        head = Self.historyFrames
        tail = head
        return head
    }

    /// Says that `frames` were written where the piece began.
    mutating func endPiece(frames: Int, timestamp: Int64, advances: Bool, origin: PlayedSegment.Origin) {
        tail = head + frames
        pieceStart = head
        self.timestamp = timestamp
        (self.advances, self.origin) = (advances, origin)
        jump = (0, 0)
    }

    /// Appends to the piece; its timestamps go on.
    mutating func append(_ sound: borrowing SoundStorage, frames: Int) {
        samples.write(sound, 0..<frames, at: tail)
        tail += frames
    }

    /// Says that the first frames of the piece stand before its timestamp, which holds meanwhile.
    mutating func holdTimestamp(frames: Int) { jump = (0, -frames) }

    /// Notes that the piece was shortened (positive) or lengthened (negative) at a sample of it.
    mutating func jumped(at sample: Int, frames: Int) {
        jump = (sample, frames)
        tail -= frames
    }

    /// RTP timestamp of the next sample; it never goes back within a piece.
    var nextTimestamp: Int64 {
        guard advances else { return timestamp }
        let played = head - pieceStart
        if played < jump.at { return timestamp + Int64(played) }
        if jump.frames < 0 { return timestamp + Int64(max(jump.at, played + jump.frames)) }
        return timestamp + Int64(played + jump.frames)
    }

    /// What the next samples stand for, as far as that goes on evenly and at most `limit` frames.
    func nextRun(from frame: Int64, limit: Int) -> PlayedSegment {
        let played = head - pieceStart
        var frames = min(limit, count)
        var runsOn = advances
        if advances, played < jump.at {
            frames = min(frames, jump.at - played)
        } else if advances, played < jump.at - jump.frames {
            // Sound that is heard a second time: its timestamp waits.
            frames = min(frames, jump.at - jump.frames - played)
            runsOn = false
        }
        return PlayedSegment(
            firstFrame: frame, frames: frames, firstTimestamp: nextTimestamp, advances: runsOn, origin: origin)
    }

    /// Makes the queue as new: silence was played before.
    mutating func reset() {
        (head, tail, pieceStart) = (Self.historyFrames, Self.historyFrames, Self.historyFrames)
        (timestamp, advances, origin, jump) = (0, false, .pause, (0, 0))
        for sample in 0..<head { samples[sample] = 0 }
    }

    /// Keeps at most `frames` of what is ready and fades them out; returns how many were dropped.
    mutating func fadeOut(frames: Int) -> Int {
        let kept = min(frames, count)
        for sample in 0..<kept { samples[head + sample] *= 1 - Waveform.fade(sample, of: kept) }
        let dropped = count - kept
        tail = head + kept
        return dropped
    }

    /// Plays up to `limit` frames into `target` at `offset`; returns how many.
    mutating func play(into target: inout MutableSpan<Float>, at offset: Int, limit: Int) -> Int {
        let frames = min(limit, count)
        samples.read(head..<head + frames, into: &target, at: offset)
        head += frames
        return frames
    }
}
