/// Merges sound that was made up with sound that is real: where both agree best, with a cross-fade.
enum Merge {
    /// Phase search at a recovery: 4 ms.
    private static let alignmentFrames = 192
    /// A phase is taken if the two sides are at least this similar there.
    private static let alignedSimilarity: Float = 0.3
    /// Made-up sound quieter than this has no phase: 30 of 32768.
    private static let audible: Float = 9e-4
    /// What follows is extended backwards where it has a pitch: where its similarity to itself is at least this.
    private static let voicedSimilarity: Float = 0.5

    /// Where the made-up sound and the true one agree best: frames into the true one if positive, as far as that is
    /// later than wanted, or frames further into the made-up one if negative.
    static func lag(
        from made: borrowing SoundStorage, to real: borrowing SoundStorage, _ range: Range<Int>, lateness: Int
    ) -> Int {
        let fade = min(Waveform.fadeFrames, range.count)
        guard Waveform.rootMeanSquare(made.span(0..<fade)) > audible else { return 0 }
        let furthest = min(max(lateness, 0), 2 * alignmentFrames, range.count - fade)
        var best = (lag: 0, similarity: alignedSimilarity)
        for lag in stride(from: -alignmentFrames, through: furthest, by: 4) {
            let (from, to) = (max(0, -lag), range.lowerBound + max(0, lag))
            let similarity = Waveform.similarity(made.span(from..<from + fade), real.span(to..<to + fade))
            if similarity > best.similarity { best = (lag, similarity) }
        }
        return best.lag
    }

    /// Fades from the made-up sound at `start` into the front of the true one.
    static func crossFade(
        from made: borrowing SoundStorage, _ start: Int, into real: inout SoundStorage, _ range: Range<Int>
    ) {
        let fade = min(Waveform.fadeFrames, range.count)
        for sample in 0..<fade {
            let weight = Waveform.fade(sample, of: fade)
            real[range.lowerBound + sample] =
                made[start + sample] * (1 - weight) + real[range.lowerBound + sample] * weight
        }
    }

    /// Whether so much concealed sound can be led over to what follows it.
    static func canLeadOut(_ frames: Int) -> Bool {
        frames <= PacketPlan.Lead.longest && frames > 2 * Waveform.fadeFrames
    }

    /// Lets concealed sound run into what follows it, of which `known` frames lie at the front of `following`: that is
    /// extended backwards by its own pitch, in the storage behind, and faded in where both agree.
    static func leadOut(
        frames: Int, of concealed: inout SoundStorage, to following: inout SoundStorage, known: Int
    ) {
        let fade = Waveform.fadeFrames
        let half = PacketPlan.Lead.longest
        guard known >= 2 * fade else { return }
        let lags = TimeStretch.shortestJump...min(TimeStretch.longestCut, known - fade)
        var search = LagSearch(frames: fade)
        let pitch = search.bestLag(in: following, at: 0, direction: 1, lags: lags)
        guard pitch.similarity > voicedSimilarity else { return }
        for sample in stride(from: frames - 1, through: 0, by: -1) {
            let source = sample + pitch.lag
            following[half + sample] = source < frames ? following[half + source] : following[source - frames]
        }
        var best = (at: frames - fade, similarity: -Float.infinity)
        for at in stride(from: alignmentFrames, through: frames - fade, by: 12) {
            let similarity = Waveform.similarity(
                concealed.span(at..<at + fade), following.span(half + at..<half + at + fade))
            if similarity > best.similarity { best = (at, similarity) }
        }
        for sample in best.at..<frames {
            let weight = sample - best.at < fade ? Waveform.fade(sample - best.at, of: fade) : 1
            concealed[sample] = concealed[sample] * (1 - weight) + following[half + sample] * weight
        }
    }
}

/// What is known of the joint between made-up and true sound.
struct Joint: BitwiseCopyable {
    /// Whether made-up sound came before.
    var followsGap = false
    /// Frames made up at full gain, or -1.
    var madeUpFrames = 0
    /// Frames that the true decoder concealed meanwhile.
    var concealedFrames = 0
    /// Whether the true decoder took packets that were not played.
    var tookPackets = false

    /// Whether the true decoder made the same sound up itself, so that it joins by itself.
    var isSeamless: Bool { !followsGap || (!tookPackets && concealedFrames == madeUpFrames) }
}
