import Glibc

/// Finds which part of a known sound a loudspeaker was playing, by correlating what it played last with that sound.
///
/// The sound is ``samples(seconds:seed:)``: a tone whose pitch wanders, so that no two parts of it within 100 ms are
/// alike, and a speech codec keeps its waveform.
package struct PositionSearch {
    private let said: [Float]
    /// How much of what was played last is compared, frames of 48 kHz.
    private let window: Int
    /// What is this far from the expected position is not looked at, frames: 100 ms.
    private static let reach = 4_800
    /// Correlation from which a part is recognised, and by how much it must exceed that of any other part.
    private static let likeness = (least: 0.8, lead: 0.15)
    /// Parts nearer to each other than this are one, frames.
    private static let distinct = 480
    /// Quieter sound is none, full scale 1.
    private static let audible: Float = 1e-3

    /// A search in `said` by the last `window` frames that were played.
    package init(in said: [Float], window: Int = 720) {
        self.said = said
        self.window = window
    }

    /// A tone that wanders between 400 and 2,400 Hz, with a new direction each 15 ms.
    package static func samples(seconds: Int, seed: UInt64) -> [Float] {
        var random = SeededGenerator(seed: seed)
        var samples: [Float] = []
        var (phase, hertz) = (0.0, 1_000.0)
        while samples.count < seconds * 48_000 {
            let step = (random.uniform(in: 400...2_400) - hertz) / 720
            for _ in 0..<720 {
                hertz += step
                phase += 2 * Double.pi * hertz / 48_000
                samples.append(Float(0.25 * sin(phase)))
            }
        }
        return samples
    }

    /// How far the windows beside it lie, and by how much what they find may differ, frames: 2 ms and 1 ms.
    private static let steady = (step: 96, difference: 48)

    /// The same where the loudspeaker plays on evenly around `frame`; nil elsewhere. A window that holds a jump, a
    /// repetition, concealment or silence is like several parts, or like a wrong one by chance.
    ///
    /// A jump goes to where the sound is alike, so the windows up to half a window behind it still find the old course.
    /// The window that begins at `frame` has to find the same one: no jump lies between the two, then.
    package func steadyPosition(before frame: Int, of heard: [Float], near guess: Int) -> Int? {
        guard frame + window <= heard.count, let here = position(before: frame, of: heard, near: guess) else {
            return nil
        }
        for offset in [-Self.steady.step, Self.steady.step, window] {
            guard let other = position(before: frame + offset, of: heard, near: guess + offset),
                abs(other - offset - here) <= Self.steady.difference
            else { return nil }
        }
        return here
    }

    /// The position behind the last frame of the sound that was played before frame `frame` of `heard`, at most 100 ms
    /// from `guess`; nil where what was played is like no part of the sound, or like several.
    package func position(before frame: Int, of heard: [Float], near guess: Int) -> Int? {
        // A loudspeaker that stands still has played what it played before.
        guard let sounded = heard.prefix(frame).lastIndex(where: { abs($0) > Self.audible }) else { return nil }
        let frame = sounded + 1
        let range = max(window, guess - Self.reach)...max(window, min(said.count, guess + Self.reach))
        guard frame >= window, range.upperBound <= said.count else { return nil }
        var coarse: [(likeness: Double, end: Int)] = []
        for end in stride(from: range.lowerBound, through: range.upperBound, by: 4) {
            coarse.append((likeness(heard, frame, end), end))
        }
        guard let peak = coarse.max(by: { $0.likeness < $1.likeness }) else { return nil }
        var best = peak
        for end in peak.end - 4...peak.end + 4 where range.contains(end) {
            let likeness = likeness(heard, frame, end)
            if likeness > best.likeness { best = (likeness, end) }
        }
        let other = coarse.filter { abs($0.end - peak.end) > Self.distinct }.map(\.likeness).max() ?? 0
        return best.likeness > Self.likeness.least && best.likeness > other + Self.likeness.lead ? best.end : nil
    }

    /// Correlation of the window that ends before a frame of `heard` with the one that ends before `end`, 0 to 1.
    private func likeness(_ heard: [Float], _ frame: Int, _ end: Int) -> Double {
        var (product, left, right) = (0.0, 1e-9, 1e-9)
        for back in stride(from: 1, through: window, by: 4) {
            let (x, y) = (Double(heard[frame - back]), Double(said[end - back]))
            product += x * y
            left += x * x
            right += y * y
        }
        return product / (left * right).squareRoot()
    }
}
