import Glibc
import VoiceSignal
import VoiceSimulation

/// The way from the played signal to the microphone, as a linear system fitted to the two recordings.
///
/// Welch's averages over windows in which the far end was heard: H = Sxy / Sxx, and the coherence, which is the share
/// of the microphone's power that a linear, constant path explains. A near talker, noise, a loudspeaker that distorts
/// and a path that moves or drifts all lower it. Where the echo is, is searched first. Both recordings must be at one
/// rate.
struct EchoPath {
    /// Reference power over the power of its linear echo, dB; nil where there is next to none.
    let returnLossDecibels: Double?
    /// From the reference to its echo's strongest arrival, ms, negative where the echo precedes it; nil where none
    /// stands out within 600 ms to either side.
    let lagMilliseconds: Double?
    /// From the strongest arrival until 99 % of the echo's energy has come, ms; nil where the fit is too poor to tell.
    let tailMilliseconds: Double?
    /// Share, 0...1, of the microphone's power that is linear echo.
    let linearShare: Double
    /// The path's response to an impulse, which begins `shift` frames after the reference's; half a transform long.
    private let response: [Float]
    private let shift: Int

    /// About a second: the delay and the room must fit.
    private static let windowSeconds = 1.0
    /// Fewer windows say nothing.
    private static let fewestWindows = 4
    /// Windows whose reference is this far below the loudest one's do not count, dB.
    private static let range = 20.0
    /// A path that explains less of the microphone than this is chance, and than that has no tail that could be
    /// measured.
    private static let leastShare = (path: 0.02, tail: 0.1)
    /// What is left of the lag, seconds: room for what arrives before the strongest. The windows must hold the lag, or
    /// they lose echo.
    private static let lead = 0.02
    /// How far to either side an echo is searched, seconds.
    private static let reach = 0.6
    /// An arrival stands out where it is this many times the root mean square of the correlation; of chance, 5 are
    /// rare.
    private static let prominence: Float = 8

    /// Nil where the far end was hardly heard, or the samples are too large for a power. Allocates; takes about 2 ms
    /// per second of 16 kHz.
    init?(reference: [Float], microphone: [Float], rate: Int) {
        var length = 4_096
        while Double(length) < Self.windowSeconds * Double(rate) { length *= 2 }
        let lag = Self.lag(reference, microphone, length: 2 * length, rate: rate)
        let shift = (lag ?? 0) - Int(Self.lead * Double(rate))
        let reference = Array(reference.dropFirst(max(0, -shift)))
        let microphone = Array(microphone.dropFirst(max(0, shift)))
        let heard = Self.windows(reference, count: min(reference.count, microphone.count), length: length)
        guard heard.count >= Self.fewestWindows else { return nil }
        var sums = Spectra(bins: length / 2 + 1)
        var transform = RealTransform(length: length)
        for start in heard { sums.add(reference, microphone, start, &transform) }
        guard sums.explainedShare.isFinite else { return nil }
        let share = sums.linearShare(windows: heard.count)
        linearShare = share
        let power = sums.echoPower * share / sums.explainedShare
        returnLossDecibels = share < Self.leastShare.path ? nil : -10 * log10(max(power, 1e-12))
        var response = sums.response(&transform)
        // The path is causal; what comes before its beginning is the fit's noise.
        response.removeLast(length / 2)
        self.response = response
        self.shift = shift
        let peak = response.indices.max { abs(response[$0]) < abs(response[$1]) } ?? 0
        lagMilliseconds = lag.map { _ in Double(shift + peak) * 1_000 / Double(rate) }
        tailMilliseconds = share < Self.leastShare.tail ? nil : Self.tail(response, from: peak, rate: rate)
    }

    /// The linear echo of `reference`, as long as it: blocks of it through the path's response, by overlap-save.
    func echo(of reference: [Float]) -> [Float] {
        let half = response.count
        var transform = RealTransform(length: 2 * half)
        let path = transform.spectrum(of: (response + [Float](repeating: 0, count: half)).span)
        func played(_ index: Int) -> Float { reference.indices.contains(index) ? reference[index] : 0 }
        var echo: [Float] = []
        echo.reserveCapacity(reference.count + half)
        for start in stride(from: -shift, to: reference.count - shift, by: half) {
            let input = (start - half..<start + half).map(played)
            let spectrum = transform.spectrum(of: input.span)
            let real = path.real.indices.map {
                spectrum.real[$0] * path.real[$0] - spectrum.imaginary[$0] * path.imaginary[$0]
            }
            let imaginary = path.real.indices.map {
                spectrum.real[$0] * path.imaginary[$0] + spectrum.imaginary[$0] * path.real[$0]
            }
            echo += transform.signal(real: real, imaginary: imaginary)[half...]
        }
        return Array(echo.prefix(reference.count))
    }

    /// Where the half-overlapping windows begin in which the far end was heard.
    private static func windows(_ reference: [Float], count: Int, length: Int) -> [Int] {
        let starts = Array(stride(from: 0, through: count - length, by: length / 2))
        let powers = starts.map { start in
            reference[start..<start + length].reduce(0.0) { $0 + Double($1) * Double($1) }
        }
        let threshold = max((powers.max() ?? 0) * pow(10, -range / 10), Double(length) * 1e-7)
        return zip(starts, powers).filter { $0.1 >= threshold }.map(\.0)
    }

    /// Frames from the reference to its strongest arrival, by the cross-correlation of both signals made white; nil
    /// where none stands out.
    private static func lag(_ reference: [Float], _ microphone: [Float], length: Int, rate: Int) -> Int? {
        var sums = Spectra(bins: length / 2 + 1)
        var transform = RealTransform(length: length)
        for start in windows(reference, count: min(reference.count, microphone.count), length: length) {
            sums.add(reference, microphone, start, &transform)
        }
        let correlation = sums.correlation(&transform)
        let reach = Int(Self.reach * Double(rate))
        let magnitudes = (-reach...reach).map { abs(correlation[($0 + length) % length]) }
        let meanSquare = magnitudes.reduce(0) { $0 + $1 * $1 } / Float(magnitudes.count)
        guard let peak = magnitudes.indices.max(by: { magnitudes[$0] < magnitudes[$1] }),
            magnitudes[peak] > prominence * meanSquare.squareRoot()
        else { return nil }
        return peak - reach
    }

    /// Milliseconds after `peak` until 99 % of the energy above the fit's own noise has come.
    private static func tail(_ response: [Float], from peak: Int, rate: Int) -> Double? {
        let energies = response.map { Double($0) * Double($0) }
        let quiet = energies.suffix(response.count / 4)
        let noise = quiet.reduce(0, +) / Double(quiet.count)
        let step = rate / 500
        var blocks: [Double] = []
        for start in stride(from: peak, to: response.count - step, by: step) {
            let energy = energies[start..<start + step].reduce(0, +) - noise * Double(step)
            // The first 2 ms without echo above the noise's own spread end what can be seen.
            if energy < noise * Double(step) { break }
            blocks.append(energy)
        }
        let total = blocks.reduce(0, +)
        guard total > 0 else { return nil }
        var sum = 0.0
        for (index, energy) in blocks.enumerated() {
            sum += energy
            if sum >= 0.99 * total { return Double((index + 1) * step) * 1_000 / Double(rate) }
        }
        return nil
    }
}

/// Averaged spectra of two signals.
private struct Spectra {
    private var referencePower: [Double]
    private var microphonePower: [Double]
    private var crossReal: [Double]
    private var crossImaginary: [Double]

    init(bins: Int) {
        referencePower = Array(repeating: 0, count: bins)
        microphonePower = referencePower
        crossReal = referencePower
        crossImaginary = referencePower
    }

    mutating func add(_ x: [Float], _ y: [Float], _ start: Int, _ transform: inout RealTransform) {
        let (xr, xi) = Self.spectrum(x, start, &transform)
        let (yr, yi) = Self.spectrum(y, start, &transform)
        for bin in 1..<xr.count {
            let (a, b, c, d) = (Double(xr[bin]), Double(xi[bin]), Double(yr[bin]), Double(yi[bin]))
            referencePower[bin] += a * a + b * b
            microphonePower[bin] += c * c + d * d
            crossReal[bin] += a * c + b * d
            crossImaginary[bin] += a * d - b * c
        }
    }

    private static func spectrum(
        _ signal: [Float], _ start: Int, _ transform: inout RealTransform
    ) -> (real: [Float], imaginary: [Float]) {
        let length = transform.length
        let block = (0..<length).map { index in
            signal[start + index] * (0.5 - 0.5 * cosf(2 * .pi * (Float(index) + 0.5) / Float(length)))
        }
        return transform.spectrum(of: block.span)
    }

    /// A bin this far below the mean tells nothing.
    private static let floor = 1e-4

    private var regularisation: Double { referencePower.reduce(0, +) / Double(referencePower.count) * Self.floor }

    /// Power of what the fit explains, over that of the reference.
    var echoPower: Double { explained / max(referencePower.reduce(0, +), 1e-30) }

    /// Share of the microphone's power that the fit explains, its own freedom included.
    var explainedShare: Double { max(explained / max(microphonePower.reduce(0, +), 1e-30), 1e-9) }

    private var explained: Double {
        let least = regularisation
        return referencePower.indices.reduce(0) { sum, bin in
            let cross = crossReal[bin] * crossReal[bin] + crossImaginary[bin] * crossImaginary[bin]
            return sum + cross / (referencePower[bin] + least)
        }
    }

    /// The explained share without what an average over so few windows explains of pure chance, 1 / windows.
    func linearShare(windows: Int) -> Double {
        // Half-overlapping windows are worth about three quarters of as many separate ones.
        let chance = 1 / (0.75 * Double(windows) + 1)
        return max(0, (explainedShare - chance) / (1 - chance))
    }

    /// The path's response to an impulse; its second half is what comes before time 0.
    func response(_ transform: inout RealTransform) -> [Float] {
        let least = regularisation
        return signal(&transform) { 1 / (referencePower[$0] + least) }
    }

    /// The cross-correlation of both signals with their spectra made white, as far as they rise above nothing (G. C.
    /// Carter, A. H. Nuttall, P. G. Cable, "The smoothed coherence transform", 1973).
    func correlation(_ transform: inout RealTransform) -> [Float] {
        let least = regularisation
        let power = microphonePower.reduce(0, +) / Double(microphonePower.count)
        return signal(&transform) {
            1 / max(1e-30, (referencePower[$0] + least) * (microphonePower[$0] + power * Self.floor)).squareRoot()
        }
    }

    /// The cross-spectrum, each bin weighted, as a signal.
    private func signal(_ transform: inout RealTransform, _ weight: (Int) -> Double) -> [Float] {
        let real = crossReal.indices.map { Float(crossReal[$0] * weight($0)) }
        let imaginary = crossImaginary.indices.map { Float(crossImaginary[$0] * weight($0)) }
        return transform.signal(real: real, imaginary: imaginary)
    }
}
