/// What the time-stretch remembers between pieces.
struct StretchState: BitwiseCopyable {
    /// Tracked level of the background, full scale 1.
    var noise: Float = 0.006
    /// Whether the last piece was silence.
    private(set) var wasSilence = false
    /// When speech was last stretched, on the pull clock.
    var lastJump: Int64 = -1 << 40
    /// Since when the delay has been too long, on the pull clock.
    var longSince: Int64?
    /// Since when the delay has been too short, on the pull clock.
    var shortSince: Int64?

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

    /// Whether a piece is silence, as far as stretching goes.
    mutating func isSilence(_ level: Float) -> Bool {
        noise = level < noise ? 0.5 * (level + noise) : noise * 1.002
        noise = min(max(noise, 3e-4), 1.5e-2)
        wasSilence = level < Self.silence || level < Self.aboveNoise * noise
        return wasSilence
    }
}

/// Moves playout towards the wanted delay by jumps of whole pitch periods: in pauses freely, in speech where it is alike.
///
/// Source: waveform-similarity overlap-add (Verhelst and Roelands, ICASSP 1993), one jump a piece.
extension PlayoutBuffer {
    /// Delay that must be too much before speech is shortened, frames (15 ms), and how fast that falls while no pause comes:
    /// by one frame in so many, 15 ms in 1.5 s. Two jumps are 40 ms apart, except in haste.
    private static let patience: Int64 = 720
    private static let impatience: Int64 = 100
    private static let rest: Int64 = 1920
    private static let haste = 4800
    /// So much of a sender is heard before anything is cut that is not in haste, frames (1 s): what its packets need shows only by then.
    private static let introduction: UInt64 = 48_000
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

    /// Shortens or lengthens the piece just put into the queue, whose first sample is played at `moment`.
    ///
    /// - Parameter excess: Delay above what is wanted, frames.
    mutating func stretchPiece(excess: Int, _ moment: Moment) {
        let frames = queue.count
        let start = queue.head
        let isSilence = stretch.isSilence(Waveform.rootMeanSquare(queue.samples.span(start..<start + frames)))
        if excess >= 0 { stretch.shortSince = nil }
        let longSince = excess < StretchState.shortestJump ? moment.time : stretch.longSince ?? moment.time
        stretch.longSince = longSince
        let patience = max(
            Int(Self.patience - (moment.time - longSince) / Self.impatience), StretchState.shortestJump)
        if excess >= (isSilence ? StretchState.shortestSilentJump : patience) {
            guard statistics.decodedSamples >= Self.introduction || excess > Self.haste else { return }
            let rested = moment.time - stretch.lastJump >= Self.rest
            if isSilence || rested || excess > Self.haste { shorten(excess: excess, isSilence, moment) }
        } else if excess < 0 {
            lengthen(shortage: -excess, isSilence, moment)
        }
    }

    private mutating func shorten(excess: Int, _ isSilence: Bool, _ moment: Moment) {
        let fade = Waveform.fadeFrames
        let longest = min(queue.count - fade, excess, isSilence ? .max : StretchState.longestCut)
        guard longest >= (isSilence ? StretchState.shortestSilentJump : StretchState.shortestJump) else { return }
        let shortest = isSilence ? longest : StretchState.shortestJump
        let jump = findJump(direction: 1, lengths: shortest...longest, fade: fade)
        let milliseconds = Float(excess) / Float(Frames.perMillisecond)
        guard isSilence || jump.similarity >= max(Self.cutSimilarity - Self.cutYield * milliseconds, Self.cutFloor)
        else {
            return
        }
        replace(at: jump.at, by: jump.length, frames: fade)
        queue.jumped(at: jump.at + fade / 2, frames: jump.length)
        statistics.removedSamplesForAcceleration += UInt64(jump.length)
        decisions.note(.shorten, frames: jump.length, at: moment.time)
        stretch.lastJump = moment.time
    }

    private mutating func lengthen(shortage: Int, _ isSilence: Bool, _ moment: Moment) {
        let since = stretch.shortSince ?? moment.time
        stretch.shortSince = since
        let fade = min(Waveform.fadeFrames, queue.count)
        let spare = 3 * Frames.perMillisecond
        let longest = min(max(shortage + spare, StretchState.shortestJump), StretchState.longestRepeat)
        let shortest = isSilence ? longest : StretchState.shortestJump
        let jump = findJump(direction: -1, lengths: shortest...longest, fade: fade)
        let milliseconds = Float(shortage) / Float(Frames.perMillisecond)
        let seconds = Float(moment.time - since) / Float(Frames.perSecond)
        let asked = Self.repeatSimilarity - Self.repeatYield * milliseconds - Self.repeatYieldPerSecond * seconds
        guard isSilence || jump.similarity >= asked else { return }
        replace(at: jump.at, by: -jump.length, frames: fade)
        queue.jumped(at: jump.at + fade / 2, frames: -jump.length)
        statistics.insertedSamplesForDeceleration += UInt64(jump.length)
        if !isSilence { statistics.repeatedSamples += UInt64(jump.length) }
        decisions.note(.lengthen, frames: jump.length, at: moment.time)
        stretch.lastJump = moment.time
    }

    /// The place and length of the jump at which the sound is most like itself.
    private func findJump(
        direction: Int, lengths: ClosedRange<Int>, fade: Int
    ) -> (at: Int, length: Int, similarity: Float) {
        let frames = queue.count
        var search = LagSearch(frames: fade)
        var best = (at: 0, length: lengths.lowerBound, similarity: Float(-1), score: -Float.infinity)
        for at in stride(from: 0, through: frames - fade, by: Self.placeStep) {
            let longest = direction > 0 ? min(lengths.upperBound, frames - fade - at) : lengths.upperBound
            guard longest >= lengths.lowerBound else { break }
            let match = search.bestLag(
                in: queue.samples, at: queue.head + at, direction: direction, lags: lengths.lowerBound...longest)
            let longer = Float(match.lag - lengths.lowerBound) / Float(StretchState.longestCut)
            let score = match.similarity + Self.lengthBonus * longer
            if score > best.score { best = (at, match.lag, match.similarity, score) }
        }
        return (best.at, best.length, best.similarity)
    }

    /// Goes on at a place of the piece with the sound `distance` further on, after a cross-fade of `frames`.
    private mutating func replace(at place: Int, by distance: Int, frames: Int) {
        let start = queue.head + place
        let end = queue.tail
        for sample in 0..<frames {
            let weight = Waveform.fade(sample, of: frames)
            decoded[sample] =
                queue.samples[start + sample] * (1 - weight) + queue.samples[start + distance + sample] * weight
        }
        // The cross-fade is written last: going back, the sound that moves begins inside it.
        queue.samples.move(start + distance + frames..<end, to: start + frames)
        queue.samples.write(decoded, 0..<frames, at: start)
    }
}
