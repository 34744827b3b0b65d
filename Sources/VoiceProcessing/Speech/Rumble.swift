import Glibc
import VoiceSignal

/// How much a microphone rumbles beside what else it hears, and how high a filter's corner is to be for it.
///
/// What lies between 25 and 60 Hz is no voice. Its floor, the least level of some seconds, is that of a fan, a table or
/// the air; a knock has none. On recordings of laptops and telephones it is 14 to 40 dB below the loudest that is heard
/// besides, and what rumbles goes on up to 200 Hz; elsewhere it is 44 to 80 dB below. That a high-pass follows what is
/// heard is known from libopus (silk/HP_variable_cutoff.c), whose encoder follows the pitch.
struct Rumble {
    /// Hz: below the lowest voices, whose fundamentals begin at some 85 Hz, and where the rumble hides those.
    static let corners = (lowest: 75.0, highest: 130.0)

    /// Level of the rumble over what is heard besides, dB, up to which the corner is the lowest and from which it is
    /// the highest.
    private static let range: (from: Float, to: Float) = (-44, -30)
    /// What is looked at, Hz, in means of 1 ms.
    private static let band = (from: 25.0, to: 60.0)
    private static let rate = 1_000.0
    /// Weight of 1 ms in the rumble's power, 50 ms, so that a breath between words shows, and of a block in the power of
    /// what is heard besides.
    private static let weight: (rumble: Double, passed: Float) = (0.02, 0.1)
    /// Blocks of which the least power is sought, three times: 2 s. Nothing is known before the first of them is over.
    private static let reach = 200
    /// Blocks that the filters need until they tell something, 0.2 s.
    private static let begun = 20
    /// Factor of the loudest power in a block without a louder one, 1 dB/s.
    private static let fall: Float = 0.9977
    /// Weight of a block's corner: 0.5 s.
    private static let weightOfCorner = 0.02
    /// Added to both powers, -130 and -80 dBFS: in silence nothing rumbles.
    private static let silence: (rumble: Float, loudest: Float) = (1e-13, 1e-8)

    private let framesPerMean: Int
    private var filters: InlineArray<3, Biquad>
    private var power = 0.0
    /// Least powers of this reach and of the two before.
    private var least: InlineArray<3, Float> = [.infinity, .infinity, .infinity]
    private var seen = 0
    private var passed: Float = 0
    private var loudest: Float = 0
    /// Hz.
    private(set) var corner = corners.lowest

    init(sampleRate: Int) {
        framesPerMean = sampleRate / Int(Self.rate)
        filters = [
            Biquad.lowPass(hertz: Self.band.to, sampleRate: Self.rate, quality: Biquad.fourthOrder.flat),
            Biquad.lowPass(hertz: Self.band.to, sampleRate: Self.rate, quality: Biquad.fourthOrder.peaked),
            Biquad.highPass(hertz: Self.band.from, sampleRate: Self.rate),
        ]
    }

    /// Takes 10 ms of a microphone.
    mutating func observe(_ block: Span<Float>) {
        for start in stride(from: 0, to: block.count - framesPerMean + 1, by: framesPerMean) {
            var sum: Float = 0
            for index in start..<start + framesPerMean { sum += block[index] }
            var low = Double(sum) / Double(framesPerMean)
            for index in filters.indices { low = filters[index].run(low) }
            power += Self.weight.rumble * (low * low - power)
        }
        seen += 1
        if seen > Self.begun { least[0] = min(least[0], Float(power)) }
        if seen.isMultiple(of: Self.reach) { least = [.infinity, least[0], least[1]] }
    }

    /// Takes what is left of them above the corner, and moves that.
    mutating func observe(passed block: Span<Float>) {
        passed += Self.weight.passed * (energy(of: block) / Float(block.count) - passed)
        loudest = max(passed, loudest * Self.fall)
        guard seen >= Self.reach else { return }
        let floor = min(least[0], least[1], least[2])
        let level = 10 * log10f((floor + Self.silence.rumble) / (loudest + Self.silence.loudest))
        let part = min(1, max(0, (level - Self.range.from) / (Self.range.to - Self.range.from)))
        let wanted = Self.corners.lowest + Double(part) * (Self.corners.highest - Self.corners.lowest)
        corner += Self.weightOfCorner * (wanted - corner)
    }
}
