internal import VoiceSignal

/// Cuts sound into chunks, whose seams lie between frames of 10 ms.
///
///     frames of 10 ms, 16 kHz ─► pending, and the power of each frame ─► where to cut ─► chunks
///
/// Knows levels alone, and no clock: the same frames give the same chunks. Holds the longest chunk and a frame at most.
package struct ChunkCutter {
    /// Frames of 10 ms in the shortest pause that is cut in, 0.3 s, and in what is kept before speech, 0.2 s.
    private static let pauseFrames = 30
    private static let leadFrames = 20
    /// Below this nobody speaks: -50 dBFS, as a power.
    private static let silentPower: Float = 1e-5
    /// In a pause speech is so far below its loudest: 30 dB.
    private static let pauseRatio: Float = 1e-3

    private let cut: ChunkCut
    private var samples: [Float] = []
    private var frames: [Frame] = []
    private var isAfterGap = true
    /// The greatest power of what is pending, and what it was before the last frame.
    private var loudest: Float = 0
    private var loudestBefore: Float = 0

    private struct Frame {
        let time: Duration
        let power: Float
        /// Where its samples begin among those that are pending.
        var first: Int
    }

    package init(_ cut: ChunkCut) { self.cut = cut }

    /// Takes a frame of 10 ms; returns the chunks that are complete, two at most.
    package mutating func insert(_ frame: SoundFrame) -> [SpeechChunk] {
        var chunks: [SpeechChunk] = []
        if frame.isAfterGap, !frames.isEmpty {
            chunks.append(take(frames.count))
            isAfterGap = true
        }
        let power = energy(of: frame.samples.span) / Float(max(frame.samples.count, 1))
        frames.append(Frame(time: frame.time, power: power, first: samples.count))
        samples += frame.samples
        (loudestBefore, loudest) = (loudest, max(loudest, power))
        if let count = nextCut { chunks.append(take(count)) }
        return chunks
    }

    /// Sound is missing behind what was inserted last.
    mutating func expectGap() { isAfterGap = true }

    /// The rest; nil where there is none.
    package mutating func finish() -> SpeechChunk? { frames.isEmpty ? nil : take(frames.count) }

    /// How many frames make the next chunk; nil where it is not complete.
    private var nextCut: Int? {
        let count = frames.count
        switch cut {
        case .fixed(let length): return count >= Self.frames(length) ? count : nil
        case .atSilence(let minimum, let maximum):
            if count > Self.frames(minimum), let last = frames.last {
                if loudestBefore < Self.silentPower, last.power >= Self.silentPower {
                    return max(count - 1 - Self.leadFrames, 1)
                }
                let limit = max(Self.silentPower, loudest * Self.pauseRatio)
                let pause = frames.suffix(Self.pauseFrames)
                if loudest >= Self.silentPower, pause.count == Self.pauseFrames, pause.allSatisfy({ $0.power < limit })
                {
                    return count - Self.pauseFrames / 2
                }
            }
            guard count >= Self.frames(maximum) else { return nil }
            return loudest < Self.silentPower ? count : quietest
        }
    }

    /// The middle of the quietest tenth of a second in the second half.
    private var quietest: Int {
        let width = 10
        var found = (place: frames.count, power: Float.infinity)
        var first = frames.count / 2
        while first + width <= frames.count {
            let power = frames[first..<first + width].reduce(0) { $0 + $1.power }
            if power < found.power { found = (first + width / 2, power) }
            first += 1
        }
        return max(found.place, 1)
    }

    private static func frames(_ length: Duration) -> Int { max(Int(length / .milliseconds(10)), 1) }

    private mutating func take(_ count: Int) -> SpeechChunk {
        let end = count < frames.count ? frames[count].first : samples.count
        let chunk = SpeechChunk(
            samples: Array(samples[..<end]), time: frames[0].time, isAfterGap: isAfterGap,
            isSilent: frames[..<count].allSatisfy { $0.power < Self.silentPower })
        samples.removeFirst(end)
        frames.removeFirst(count)
        for index in frames.indices { frames[index].first -= end }
        loudest = frames.reduce(0) { max($0, $1.power) }
        isAfterGap = false
        return chunk
    }
}
