import Glibc
import VoiceSignal

/// Cuts a signal into overlapping frames for the spectrum and puts them together again, with little delay.
///
/// The analysis looks back over 20 ms with a window that rises slowly and falls in the last 5 ms; the synthesis uses
/// only the last 10 ms, with the window that makes the product of the two a raised cosine, so that unchanged frames add
/// up to the signal (D. Mauler, R. Martin, "A low delay, variable resolution, perfect reconstruction spectral
/// analysis-synthesis system for speech enhancement", EUSIPCO 2007). Resolution of a long window, delay of a short one:
/// one hop, 5 ms.
///
///     analysis   ___------‾‾‾‾‾‾‾‾\        20 ms, zero-padded to a power of two
///     synthesis            /‾‾\            last 10 ms
///     hop                     |--|         5 ms
struct ShortDelayFrames: ~Copyable {
    /// Frames per second.
    private static let hopsPerSecond = 200
    /// Window length in hops.
    private static let hopsPerWindow = 4

    /// Samples between frames; the output lags the input by as many.
    let hop: Int
    /// Spectrum of the last frame.
    var transform: RealTransform
    /// Sum of the squared analysis window: a spectrum's power over this and over the transform's length is a mean
    /// square.
    let windowEnergy: Float

    private let window: Int
    /// The analysis window.
    private(set) var analysis: RealVector
    private var synthesis: RealVector
    private var history: DelayLine
    private var seen: RealVector
    private var frame: RealVector
    private var overlap: RealVector

    init(sampleRate: Int) {
        hop = sampleRate / Self.hopsPerSecond
        window = Self.hopsPerWindow * hop
        var length = 4
        while length < window { length *= 2 }
        transform = RealTransform(length: length)
        analysis = RealVector(count: window)
        synthesis = RealVector(count: 2 * hop)
        history = DelayLine(count: window)
        seen = RealVector(count: window)
        frame = RealVector(count: length)
        overlap = RealVector(count: hop)
        let rise = window - hop
        var energy: Double = 0
        for index in 0..<window {
            let isRising = index < rise
            let place = isRising ? Double(index) + 0.5 : Double(index - rise) + 0.5
            let value = isRising ? sin(.pi * place / Double(2 * rise)) : cos(.pi * place / Double(2 * hop))
            analysis[index] = Float(value)
            energy += value * value
        }
        for index in 0..<2 * hop {
            let raised = pow(sin(.pi * (Double(index) + 0.5) / Double(2 * hop)), 2)
            synthesis[index] = Float(raised / Double(analysis[window - 2 * hop + index]))
        }
        windowEnergy = Float(energy)
    }

    /// Takes one hop of signal from `block` and computes the spectrum of the frame that ends with it.
    mutating func analyse(_ block: Span<Float>, from start: Int) {
        remember(block, from: start)
        seen.write(history)
        seen.scale(by: analysis)
        transform.forward(seen)
    }

    /// Takes one hop of signal without looking at it, so that a later frame finds its past.
    mutating func remember(_ block: Span<Float>, from start: Int) {
        history.push(block.extracting(start..<start + hop))
    }

    /// Writes the hop that the spectrum, as it is now, completes.
    mutating func synthesise(into block: inout MutableSpan<Float>, at start: Int) {
        transform.inverse(into: &frame)
        let tail = window - 2 * hop
        for index in 0..<hop {
            block[start + index] = overlap[index] + frame[tail + index] * synthesis[index]
            overlap[index] = frame[tail + hop + index] * synthesis[hop + index]
        }
    }

    /// Makes ready for `synthesise` after frames that were analysed only: what they would have left behind.
    mutating func prepare() {
        for index in 0..<hop {
            let place = window - hop + index
            overlap[index] = history[place] * analysis[place] * synthesis[hop + index]
        }
    }
}
