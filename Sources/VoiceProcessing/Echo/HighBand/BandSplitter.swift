import CVoiceKernels
import Glibc
import VoiceSignal

/// Parts a signal of 32 or 48 kHz into what lies below 8 kHz, at 16 kHz, and the rest, so that the two add up to it
/// again.
///
///     in ─┬─> low-pass, every 2nd or 3rd ─┬─────────> low (16 kHz)
///         │                               └─> up ─┐
///         └─> delay ──────────────────────────> − ┴─> high
///
/// The rest is what the low band does not give back, so with an untouched low band the sum is the input, delayed by 1
/// ms, exactly. The low-pass is 3 kHz wide around 8 kHz and 50 dB down beyond: what folds over lies above 6.6 kHz. What
/// is no sound is kept out by ``SampleBounds``.
struct BandSplitter: ~Copyable {
    private static let lowRate = 16_000
    private static let lowBlock = 160
    /// Taps per frame of the low band's rate on each side: 0.5 ms.
    private static let reach = 8
    /// Kaiser's parameter for 50 dB (Kaiser, 1974: 0.5842 (A - 21)^0.4 + 0.07886 (A - 21)).
    private static let kaiser = 4.551
    /// Cut-off, Hz.
    private static let cutoff = 8_000.0

    let factor: Int
    let block: Int
    /// Frames by which the high band, and the low band once it is back at the high rate, lag the input.
    let delay: Int
    private let half: Int
    private var taps: RealVector
    /// For each of the `factor` places between two low frames its own taps, `2 * reach + 1` of them.
    private var phases: RealVector
    private var input: DelayLine
    private var lowLine = DelayLine(count: 2 * reach + 1 + lowBlock)
    private var phase = RealVector(count: lowBlock)
    private var line: RealVector

    init(sampleRate: Int) {
        factor = sampleRate / Self.lowRate
        block = sampleRate / 100
        half = Self.reach * factor
        delay = 2 * half
        let count = 2 * half + 1
        taps = RealVector(count: count)
        phases = RealVector(count: factor * (2 * Self.reach + 1))
        input = DelayLine(count: 2 * half + block)
        line = RealVector(count: 2 * half + block)
        designTaps(sampleRate)
    }

    private mutating func designTaps(_ sampleRate: Int) {
        var sum: Float = 0
        for index in 0...2 * half {
            let x = Double(index - half)
            let angle = 2 * Double.pi * Self.cutoff / Double(sampleRate) * x
            let sinc = x == 0 ? 1 : sin(angle) / angle
            let y = x / Double(half + 1)
            taps[index] = Float(sinc * SincInterpolator.besselI0(Self.kaiser * (1 - y * y).squareRoot()))
            sum += taps[index]
        }
        for index in 0...2 * half { taps[index] /= sum }
        // Output frame n = factor·m + p takes the low frames m − reach ... m + reach, tap half + p + factor·(reach −
        // j)... of each.
        for place in 0..<factor {
            for tap in 0...2 * Self.reach {
                let index = half + place + factor * (Self.reach - tap)
                let value = index >= 0 && index <= 2 * half ? taps[index] : 0
                phases[place * (2 * Self.reach + 1) + tap] = Float(factor) * value
            }
        }
    }

    /// Forgets what it heard.
    mutating func clear() {
        input.clear()
        lowLine.clear()
        line.fill(0)
    }

    /// Takes a block.
    mutating func split(_ block: Span<Float>, low: inout RealVector) {
        precondition(block.count == self.block && low.count == Self.lowBlock)
        input.push(block)
        unsafe vk_fir(input.start, factor, taps.start, 2 * half + 1, low.start, Self.lowBlock)
    }

    /// Takes the low band back to the high rate; as much delayed as ``split(_:low:)`` has done again.
    mutating func raise(_ low: borrowing RealVector, into output: inout RealVector) {
        precondition(low.count == Self.lowBlock && output.count == block)
        let kept = 2 * Self.reach + 1
        lowLine.push(low)
        for place in 0..<factor {
            unsafe vk_fir(lowLine.start + 1, 1, phases.start + place * kept, kept, phase.start, Self.lowBlock)
            for index in 0..<Self.lowBlock { output[index * factor + place] = phase[index] }
        }
    }

    /// Writes the input as it was ``delay`` frames ago.
    mutating func delayed(_ block: Span<Float>, into output: inout RealVector) {
        output.write(line, count: min(delay, self.block), at: 0)
        output.write(block.extracting(0..<self.block - delay), at: delay)
        line.write(block.extracting(self.block - delay..<self.block))
    }
}
