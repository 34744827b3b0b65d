import VoiceSignal

/// Takes away what lies below a voice: rumble, hum, a constant offset. Adds no delay, and is switched without a click.
struct HighPass {
    /// Below the lowest voices, whose fundamentals begin at some 85 Hz.
    private static let hertz = 80.0

    private var filter: Biquad
    var isOn: Bool
    /// Whether the last block was filtered.
    private var wasOn: Bool

    init(sampleRate: Int, isOn: Bool) {
        filter = Biquad.highPass(hertz: Self.hertz, sampleRate: Double(sampleRate))
        self.isOn = isOn
        wasOn = isOn
    }

    /// Filters a block in place; one after a switch is faded from what was before.
    mutating func run(_ block: inout MutableSpan<Float>) {
        guard isOn || wasOn else { return }
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
