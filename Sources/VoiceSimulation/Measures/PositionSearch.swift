import Glibc
internal import VoiceSignal

/// Finds which part of a known sound a loudspeaker was playing, by correlating what it played last with that sound.
///
/// The sound is ``samples(seconds:seed:)``: a tone whose pitch wanders, so that no two parts of it within 100 ms are
/// alike, and a speech codec keeps its waveform.
package struct PositionSearch {
    private let said: [Float]
    /// How much of what was played last is compared, frames of 48 kHz.
    private let window: Int
    /// What is this far from the expected position is not looked at at first, frames: 100 ms.
    private static let reach = 4_800
    /// How much on either side of a frame is looked for in the whole sound, frames: 30 ms. Parts as short as ``window``
    /// are alike by chance there.
    private static let surroundings = 1_440
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

    /// The position in the sound where the loudspeaker plays on evenly around `frame`, at most 100 ms from `guess` or, if
    /// it is none there, anywhere; nil elsewhere. A window that holds a jump, a repetition, concealment or silence is like
    /// several parts, or like a wrong one by chance.
    ///
    /// A jump goes to where the sound is alike, so the windows up to half a window behind it still find the old course.
    /// The window that begins at `frame` has to find the same one: no jump lies between the two, then.
    package func steadyPosition(before frame: Int, of heard: [Float], near guess: Int) -> Int? {
        if let here = steadyPosition(before: frame, of: heard, around: guess) { return here }
        let whole = frame - Self.surroundings..<frame + Self.surroundings
        guard let elsewhere = position(of: whole, in: heard) else { return nil }
        return steadyPosition(before: frame, of: heard, around: elsewhere + Self.surroundings)
    }

    private func steadyPosition(before frame: Int, of heard: [Float], around guess: Int) -> Int? {
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
        guard frame >= window, said.count >= window else { return nil }
        let range = (guess - Self.reach...guess + Self.reach).clamped(to: window...said.count)
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

    /// Where in the whole sound these frames of `heard` begin; nil where they are like no part of it, or like several.
    private func position(of frames: Range<Int>, in heard: [Float]) -> Int? {
        guard heard.indices.contains(frames), frames.count <= said.count else { return nil }
        var transform = RealTransform(length: 8_192)
        let part = transform.spectrum(of: heard.span.extracting(frames))
        let energy = heard[frames].reduce(1e-9) { $0 + Double($1) * Double($1) }
        // Of all that comes before each frame of the sound.
        let energies = said.reduce(into: [0.0]) { $0.append(($0.last ?? 0) + Double($1) * Double($1)) }
        var likenesses: [Double] = []
        var products = [Float](repeating: 0, count: transform.length)
        while likenesses.count <= said.count - frames.count {
            let first = likenesses.count
            transform.forward(said.span.extracting(first..<min(first + transform.length, said.count)))
            for bin in 0..<transform.bins {
                let (real, imaginary) = (transform.real[bin], transform.imaginary[bin])
                transform.real[bin] = real * part.real[bin] + imaginary * part.imaginary[bin]
                transform.imaginary[bin] = imaginary * part.real[bin] - real * part.imaginary[bin]
            }
            var span = products.mutableSpan
            transform.inverse(into: &span)
            for start in first...min(first + transform.length - frames.count, said.count - frames.count) {
                let own = max(1e-9, energies[start + frames.count] - energies[start])
                likenesses.append(Double(products[start - first]) / (energy * own).squareRoot())
            }
        }
        guard let peak = likenesses.max(), let best = likenesses.firstIndex(of: peak) else { return nil }
        let before = likenesses.prefix(max(0, best - Self.distinct)).max() ?? 0
        let other = max(before, likenesses.dropFirst(best + Self.distinct).max() ?? 0)
        return peak > Self.likeness.least && peak > other + Self.likeness.lead ? best : nil
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
