import Glibc
import VoiceSignal

/// What lies above the canceller's 8 kHz: delayed to meet its output, and turned down while it is echo.
///
/// There is no filter up here. Two things must agree before anything is turned down: the canceller takes away most of
/// what it hears just below, between 4 and 7 kHz, and the far end's own high band, by the attenuation that the filter
/// found for the octave below, is loud enough to matter in the microphone's.
struct HighBand: ~Copyable {
    /// The echo's power is taken for this many times what it is expected to be.
    private static let caution: Float = 30
    /// Decay per block of the far end's power: the room.
    private static let decay: Float = 0.8
    /// Blocks of far-end power that are kept: the longest delay.
    private static let blocks = 70
    /// Weight of a new gain when it rises; it falls at once.
    private static let rise: Float = 0.4

    private var mic: BandSplitter
    private var far: BandSplitter
    private var raiser: BandSplitter
    private var micRaised: RealVector
    private var micDelayed: RealVector
    private var farRaised: RealVector
    private var farDelayed: RealVector
    private var output: RealVector
    private var waiting: RealVector
    private var farPowers = RealVector(count: blocks)
    private var gain: Float = 1
    private var expected: Float = 0
    /// Frames by which the canceller's own low band lags.
    private let lag: Int

    init(sampleRate: Int) {
        let block = sampleRate / 100
        lag = NativeEchoCanceller.delay * sampleRate / NativeEchoCanceller.sampleRate
        mic = BandSplitter(sampleRate: sampleRate)
        far = BandSplitter(sampleRate: sampleRate)
        raiser = BandSplitter(sampleRate: sampleRate)
        micRaised = RealVector(count: block)
        micDelayed = RealVector(count: block)
        farRaised = RealVector(count: block)
        farDelayed = RealVector(count: block)
        output = RealVector(count: block)
        waiting = RealVector(count: lag + block)
    }

    /// Frames by which the output lags at this rate.
    var delay: Int { mic.delay + lag }

    /// Parts both signals; the low bands are for the canceller.
    mutating func split(
        capture: Span<Float>, far newFar: Span<Float>, low: inout RealVector, farLow: inout RealVector
    ) {
        mic.split(capture, low: &low)
        mic.raise(low, into: &micRaised)
        mic.delayed(capture, into: &micDelayed)
        far.split(newFar, low: &farLow)
        far.raise(farLow, into: &farRaised)
        far.delayed(newFar, into: &farDelayed)
        farPowers.shiftDown(by: 1)
        farPowers[Self.blocks - 1] = Self.difference(farDelayed, farRaised)
    }

    /// What was played before is heard no more. The gain stays as it is: that of silence would be 0.
    mutating func forgetFarEnd() {
        far.clear()
        farPowers.fill(0)
    }

    /// Joins the canceller's low band and the high band.
    ///
    /// - Parameters:
    ///   - passed: share of amplitude that the canceller leaves of the microphone between 4 and 7 kHz, 0...1.
    ///   - coupling: power of the echo over that of the reference there.
    ///   - offset: frames of 16 kHz by which the reference is delayed.
    mutating func join(
        low: borrowing RealVector, passed: Float, coupling: Float, offset: Int, into capture: inout MutableSpan<Float>
    ) {
        let power = Self.difference(micDelayed, micRaised)
        let old = gain
        nextGain(power: power, passed: passed, coupling: coupling, offset: offset)
        let block = output.count
        waiting.shiftDown(by: block)
        for index in 0..<block {
            let ramp = old + (gain - old) * Float(index + 1) / Float(block)
            waiting[lag + index] = ramp * (micDelayed[index] - micRaised[index])
        }
        raiser.raise(low, into: &output)
        for index in 0..<block { capture[index] = output[index] + waiting[index] }
    }

    private mutating func nextGain(power: Float, passed: Float, coupling: Float, offset: Int) {
        // The echo comes up to a block later than the offset says, and its tail after that.
        let newest = max(0, Self.blocks - 1 - offset / NativeEchoCanceller.block)
        let oldest = max(0, newest - 4)
        var heard: Float = 0
        for block in oldest...newest { heard = max(heard, farPowers[block]) }
        expected = max(heard * coupling, expected * Self.decay)
        let likely = power / (power + Self.caution * expected + 1e-20)
        let next = max(min(1, passed), likely)
        gain += (next < gain ? 1 : Self.rise) * (next - gain)
    }

    private static func difference(_ a: borrowing RealVector, _ b: borrowing RealVector) -> Float {
        var sum: Float = 0
        for index in 0..<a.count { sum += (a[index] - b[index]) * (a[index] - b[index]) }
        return sum
    }
}
