/// How a piece may be stretched.
struct StretchPlan: BitwiseCopyable {
    /// Delay above what is wanted, frames; negative if it is too short.
    var excess: Int
    /// When the first sample of the piece is played, on the pull clock.
    var time: Int64
    /// Whether so much of the sender was heard that it may be cut without haste.
    var isIntroduced: Bool
}

/// What was stretched of a piece.
struct Stretched: BitwiseCopyable {
    /// Frames put in; taken out if negative.
    var frames: Int
    /// Whether the piece was silence, as far as stretching goes.
    var isSilence: Bool
}

/// Moves playout towards the wanted delay by jumps of whole pitch periods: in pauses freely, in speech where it is
/// alike.
///
/// Source: waveform-similarity overlap-add (Verhelst and Roelands, ICASSP 1993), one jump a piece.
struct TimeStretch: ~Copyable {
    /// Tracked level of the background, full scale 1.
    private var noise = initialNoise
    /// When a piece was last stretched, on the pull clock.
    private var lastJump = never
    /// Since when the delay has been too long, on the pull clock.
    private var longSince: Int64?
    /// Since when the delay has been too short, on the pull clock.
    private var shortSince: Int64?
    private var crossFade = SoundStorage(capacity: Waveform.fadeFrames)

    private static let initialNoise: Float = 0.006
    private static let never: Int64 = -1 << 40
    /// Jumps of a waveform, frames: 2.5 ms, 12 ms ahead, 16 ms back; in silence from 1 ms on.
    static let shortestJump = 120
    static let shortestSilentJump = 48
    static let longestCut = 576
    static let longestRepeat = 768
    /// Short packets are gathered up to this before they are shortened, frames (20 ms).
    static let pieceFrames = 960

    /// Below this a piece is silence whatever the background, full scale 1 (-52 dB); and up to twice the background.
    private static let silence: Float = 2.5e-3
    private static let aboveNoise: Float = 2

    /// Delay that must be too much before speech is shortened, frames (15 ms), and how fast that falls while no pause
    /// comes: by one frame in so many, 15 ms in 1.5 s. Two jumps are 40 ms apart, except in haste.
    private static let patience: Int64 = 720
    private static let impatience: Int64 = 100
    private static let rest: Int64 = 1920
    private static let haste = 4800
    /// Similarity that a jump must have in speech, and what each ms of error, or each second of waiting, lowers it by.
    private static let cutSimilarity: Float = 0.92
    private static let cutYield: Float = 0.002
    private static let cutFloor: Float = 0.5
    private static let repeatSimilarity: Float = 0.85
    private static let repeatYield: Float = 0.005
    private static let repeatYieldPerSecond: Float = 0.3
    /// Distance of the places tried for a jump, frames (2 ms), and what similarity the longest cut may give up.
    private static let placeStep = 96
    private static let lengthBonus: Float = 0.1

    mutating func reset() { (noise, lastJump, longSince, shortSince) = (Self.initialNoise, Self.never, nil, nil) }

    /// Shortens or lengthens the piece just put into the queue.
    mutating func carryOut(_ plan: StretchPlan, on queue: inout SoundQueue) -> Stretched {
        let isSilence = isSilence(Waveform.rootMeanSquare(queue.samples.span(queue.head..<queue.tail)))
        var stretched = Stretched(frames: 0, isSilence: isSilence)
        if plan.excess >= 0 { shortSince = nil }
        let longSince = plan.excess < Self.shortestJump ? plan.time : longSince ?? plan.time
        self.longSince = longSince
        let patience = max(Int(Self.patience - (plan.time - longSince) / Self.impatience), Self.shortestJump)
        if plan.excess >= (isSilence ? Self.shortestSilentJump : patience) {
            let isHasty = plan.excess > Self.haste
            guard plan.isIntroduced || isHasty else { return stretched }
            let rested = plan.time - lastJump >= Self.rest
            if isSilence || rested || isHasty { stretched.frames = shorten(&queue, plan, isSilence) }
        } else if plan.excess < 0 {
            stretched.frames = lengthen(&queue, plan, isSilence)
        }
        return stretched
    }

    /// Whether a piece is silence, as far as stretching goes.
    private mutating func isSilence(_ level: Float) -> Bool {
        noise = level < noise ? 0.5 * (level + noise) : noise * 1.002
        noise = min(max(noise, 3e-4), 1.5e-2)
        return level < Self.silence || level < Self.aboveNoise * noise
    }

    private mutating func shorten(_ queue: inout SoundQueue, _ plan: StretchPlan, _ isSilence: Bool) -> Int {
        let fade = Waveform.fadeFrames
        let longest = min(queue.count - fade, plan.excess, isSilence ? .max : Self.longestCut)
        guard longest >= (isSilence ? Self.shortestSilentJump : Self.shortestJump) else { return 0 }
        let shortest = isSilence ? longest : Self.shortestJump
        let jump = findJump(queue, direction: 1, lengths: shortest...longest, fade: fade)
        let milliseconds = Float(plan.excess) / Float(Frames.perMillisecond)
        guard isSilence || jump.similarity >= max(Self.cutSimilarity - Self.cutYield * milliseconds, Self.cutFloor)
        else {
            return 0
        }
        replace(in: &queue, at: jump.at, by: jump.length, frames: fade)
        queue.jumped(at: jump.at + fade / 2, frames: jump.length)
        lastJump = plan.time
        return -jump.length
    }

    private mutating func lengthen(_ queue: inout SoundQueue, _ plan: StretchPlan, _ isSilence: Bool) -> Int {
        let shortage = -plan.excess
        let since = shortSince ?? plan.time
        shortSince = since
        let fade = min(Waveform.fadeFrames, queue.count)
        let spare = 3 * Frames.perMillisecond
        let longest = min(max(shortage + spare, Self.shortestJump), Self.longestRepeat)
        let shortest = isSilence ? longest : Self.shortestJump
        let jump = findJump(queue, direction: -1, lengths: shortest...longest, fade: fade)
        let milliseconds = Float(shortage) / Float(Frames.perMillisecond)
        let seconds = Float(plan.time - since) / Float(Frames.perSecond)
        let asked = Self.repeatSimilarity - Self.repeatYield * milliseconds - Self.repeatYieldPerSecond * seconds
        guard isSilence || jump.similarity >= asked else { return 0 }
        replace(in: &queue, at: jump.at, by: -jump.length, frames: fade)
        queue.jumped(at: jump.at + fade / 2, frames: -jump.length)
        lastJump = plan.time
        return jump.length
    }

    /// The place and length of the jump at which the sound is most like itself.
    private func findJump(
        _ queue: borrowing SoundQueue, direction: Int, lengths: ClosedRange<Int>, fade: Int
    ) -> (at: Int, length: Int, similarity: Float) {
        let frames = queue.count
        var search = LagSearch(frames: fade)
        var best = (at: 0, length: lengths.lowerBound, similarity: Float(-1), score: -Float.infinity)
        for at in stride(from: 0, through: frames - fade, by: Self.placeStep) {
            let longest = direction > 0 ? min(lengths.upperBound, frames - fade - at) : lengths.upperBound
            guard longest >= lengths.lowerBound else { break }
            let match = search.bestLag(
                in: queue.samples, at: queue.head + at, direction: direction, lags: lengths.lowerBound...longest)
            let longer = Float(match.lag - lengths.lowerBound) / Float(Self.longestCut)
            let score = match.similarity + Self.lengthBonus * longer
            if score > best.score { best = (at, match.lag, match.similarity, score) }
        }
        return (best.at, best.length, best.similarity)
    }

    /// Goes on at a place of the piece with the sound `distance` further on, after a cross-fade of `frames`.
    private mutating func replace(in queue: inout SoundQueue, at place: Int, by distance: Int, frames: Int) {
        let start = queue.head + place
        let end = queue.tail
        for sample in 0..<frames {
            let weight = Waveform.fade(sample, of: frames)
            crossFade[sample] =
                queue.samples[start + sample] * (1 - weight) + queue.samples[start + distance + sample] * weight
        }
        // The cross-fade is written last: going back, the sound that moves begins inside it.
        queue.samples.move(start + distance + frames..<end, to: start + frames)
        queue.samples.write(crossFade, 0..<frames, at: start)
    }
}
