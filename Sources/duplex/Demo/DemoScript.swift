import VoiceSimulation

/// Who says what when: long enough alone for the canceller to learn, alone again to judge it, and both at once, which
/// is the hard part.
struct DemoScript {
    /// A stretch of time in seconds.
    typealias Seconds = ClosedRange<Double>

    let length: Double

    /// Only B speaks: A's canceller learns.
    var learning: Seconds { 1...length * 0.3 }
    /// Only A speaks: what arrives at B is the measure of A's voice.
    var onlyA: Seconds { length * 0.32...length * 0.52 }
    /// Both speak.
    var both: Seconds { length * 0.54...length * 0.74 }
    /// Only B speaks again: what B hears of itself is echo.
    var onlyB: Seconds { length * 0.76...length - 0.2 }

    /// When each side speaks.
    func speaking(_ side: Int) -> [Seconds] { side == 0 ? [onlyA, both] : [learning, both, onlyB] }

    /// A talker's part, in frames of 48 kHz: `speech` laid into the stretches in which the side speaks, silence
    /// between.
    func part(of side: Int, speech: [Float]) -> [Float] {
        var part = [Float](repeating: 0, count: Int(length * 48_000))
        var position = 0
        for stretch in speaking(side) {
            for frame in Self.frames(stretch) where frame < part.count {
                guard position < speech.count else { break }
                part[frame] = speech[position]
                position += 1
            }
        }
        return part
    }

    /// The frames of a stretch, less its first and last 0.3 s: what was said before must have died away.
    static func inner(_ stretch: Seconds) -> Range<Int> {
        frames(stretch.lowerBound + 0.3...max(stretch.upperBound - 0.3, stretch.lowerBound + 0.3))
    }

    private static func frames(_ stretch: Seconds) -> Range<Int> {
        Int(stretch.lowerBound * 48_000)..<Int(stretch.upperBound * 48_000)
    }
}
