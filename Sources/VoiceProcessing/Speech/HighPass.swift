import VoiceSignal

/// Takes away what lies below a voice: rumble, hum, a constant offset. Adds no delay, and is switched without a click.
///
/// A Butterworth filter of the fourth order, one section of it in front of the echo canceller and one behind:
///
///     microphone ─┬─> section ─> EchoStage ─> section ─> near end
///                 └─> Rumble ─ corner ─┴─────────┘
///
/// In front, since the canceller learns nothing from a rumble, which hides what is in the bins above it; behind, since
/// gains that change make low frequencies of their own. Figures: docs/decisions/113.
struct HighPass {
    /// A corner is not moved by less, Hz.
    private static let step = 0.5

    private var front: Section
    private var back: Section
    private var rumble: Rumble
    /// Hz.
    private var corner = Rumble.corners.lowest

    init(sampleRate: Int, isOn: Bool) {
        front = Section(quality: Biquad.fourthOrder.peaked, sampleRate: sampleRate, isOn: isOn)
        back = Section(quality: Biquad.fourthOrder.flat, sampleRate: sampleRate, isOn: isOn)
        rumble = Rumble(sampleRate: sampleRate)
    }

    var isOn: Bool {
        get { front.isOn }
        set { (front.isOn, back.isOn) = (newValue, newValue) }
    }

    /// Filters 10 ms of the microphone in place; a block after a switch is faded from what was before.
    mutating func run(microphone block: inout MutableSpan<Float>) {
        guard front.isAtWork else { return }
        rumble.observe(block.span)
        front.run(&block)
        rumble.observe(passed: block.span)
        guard abs(rumble.corner - corner) >= Self.step else { return }
        corner = rumble.corner
        front.move(to: corner)
        back.move(to: corner)
    }

    /// Filters what the canceller made of them.
    mutating func run(cancelled block: inout MutableSpan<Float>) {
        guard back.isAtWork else { return }
        back.run(&block)
    }

    /// Filters a part of the microphone as ``run(microphone:)`` filtered the whole.
    func run(part block: inout MutableSpan<Float>, by section: inout Section) {
        section.move(to: corner)
        section.run(&block)
    }

    /// The section in front, for a part of the microphone.
    static func section(sampleRate: Int) -> Section {
        Section(quality: Biquad.fourthOrder.peaked, sampleRate: sampleRate, isOn: true)
    }

    /// One of the filter's two sections.
    struct Section {
        private let sampleRate: Double
        private let quality: Double
        private var filter: Biquad
        var isOn: Bool
        /// Whether the last block was filtered.
        private var wasOn: Bool

        fileprivate init(quality: Double, sampleRate: Int, isOn: Bool) {
            self.quality = quality
            self.sampleRate = Double(sampleRate)
            filter = Biquad.highPass(hertz: Rumble.corners.lowest, sampleRate: self.sampleRate, quality: quality)
            (self.isOn, wasOn) = (isOn, isOn)
        }

        fileprivate var isAtWork: Bool { isOn || wasOn }

        fileprivate mutating func move(to hertz: Double) {
            filter.become(Biquad.highPass(hertz: hertz, sampleRate: sampleRate, quality: quality))
        }

        fileprivate mutating func run(_ block: inout MutableSpan<Float>) {
            if isOn, wasOn { return filter.run(&block) }
            var filter = filter
            let (from, to): (Float, Float) = (wasOn ? 1 : 0, isOn ? 1 : 0)
            let step = (to - from) / Float(block.count)
            for index in 0..<block.count {
                let filtered = Float(filter.run(Double(block[index])))
                block[index] += (from + step * Float(index + 1)) * (filtered - block[index])
            }
            self.filter = filter
            if !isOn { self.filter.restart() }
            wasOn = isOn
        }
    }
}
