import Glibc
import VoiceSignal

/// Finds by how much the echo in the microphone lags the reference, from the two signals alone.
///
/// Generalised cross-correlation with phase transform (Knapp and Carter, 1976) at 8 kHz: the last 0.4 s of microphone
/// against the last 1.02 s of reference, over lags of 0 to 624 ms, the cross-spectrum averaged exponentially over
/// estimates. The phase transform makes the loudest direct path a peak however coloured the speech is; the ratio of the
/// peak to the median of all lags says whether there is an echo at all. A sharper peak needs fewer agreeing estimates
/// to be believed.
///
/// The work is cut in steps, one per block: two transforms of 8192 points fall on different blocks. Nothing is
/// estimated while the far end is silent. Nothing is allocated after `init`.
public struct EchoDelayEstimator: ~Copyable {
    /// A delay that was found.
    public struct Estimate: BitwiseCopyable, Equatable, Sendable {
        /// Frames, at the caller's rate, by which the echo lags the reference; resolution 1/8000 s.
        public var delay: Int
        /// 0...1: how much the peak stands out; 0.5 is a peak 40 times the median.
        public var confidence: Float
    }

    /// Rate of the search, Hz. Speech below 3.6 kHz is enough for 0.125 ms.
    static let searchRate = 8_000
    /// Frames of a transform at that rate.
    private static let size = 8_192
    /// Frames of microphone that are looked for in the reference: 0.4 s.
    private static let window = 3_200
    /// Lags that are searched: 624 ms.
    private static let lags = size - window
    /// Band of the search, Hz: above hum, below the decimator's edge.
    private static let band = (low: 200.0, high: 3_600.0)
    /// Mean square of the reference, over the window's last 0.2 s, above which the far end is talking: -60 dBFS.
    private static let activePower: Float = 1e-6
    /// Peak over median of a believable echo. It tells echo from chance, and the higher it is the fewer estimates in a
    /// row must agree (`votesToFind`, `votesToMove`). A middling first peak must also grow: as the window fills, the
    /// peak of an echo grows and that of a chance likeness fades. Measured in simulated rooms and on a simulated
    /// headset with 6 seeds: chance reached 185 in the first 0.3 s of two talkers who began together and was gone in
    /// each case 1.7 s later; echoes began at 42 to 148 and reached 80 to 340.
    private static let believablePeak: Float = 28
    private static let growth: Float = 1.1
    /// Blocks of far-end speech before which a peak may be chance (two talkers who begin together are alike for 0.3 s),
    /// and after which a delay that was found earlier must have been seen again.
    private static let probation = 50
    /// Peak over median that still speaks for a delay that is believed already.
    private static let weakPeak: Float = 12
    /// Weight of the past in the average of the cross-spectrum, before and after a delay was found.
    private static let memory: (searching: Float, locked: Float) = (0.7, 0.8)
    /// Blocks between estimates while searching, and while a found delay is being confirmed.
    private static let interval = (searching: 4, locked: 12)
    /// Estimates within this many frames at 8 kHz agree.
    private static let agreement = 2

    private enum Step { case gather, transform, correlate, choose }

    private let factor: Int
    private var captureDecimator: Decimator
    private var referenceDecimator: Decimator
    private var transform: FourierTransform
    private var capture = DelayLine(count: window)
    private var reference = DelayLine(count: size)
    private var decimated: RealVector
    private var taper = RealVector(count: window)
    private var real = RealVector(count: size)
    private var imaginary = RealVector(count: size)
    private var crossReal = RealVector(count: size / 2 + 1)
    private var crossImaginary = RealVector(count: size / 2 + 1)
    private var histogram = PeakMedian()

    private var step = Step.gather
    private var blocksSinceEstimate = 0
    private var heard = 0
    private var candidate = -1
    private var votes = 0
    private var activeBlocks = 0
    private var confirmedAt = 0
    private var foundAt = 0
    /// Whether the delay was seen with enough speech to be no chance. Until then ``estimate`` is a guess, worth
    /// following.
    public private(set) var isProven = false

    /// The delay that is believed, nil as long as none was found.
    public private(set) var estimate: Estimate?
    /// Peak over median of the last estimate, whether believed or not; nil before the first.
    public private(set) var peakToMedian: Float?
    /// Blocks during which the far end was talking and nothing in the microphone agreed with ``estimate``, or with any.
    public var unconfirmedFarEndBlocks: Int { activeBlocks - confirmedAt }

    /// A search for signals of 16, 32 or 48 kHz in blocks of 10 ms.
    ///
    /// - Throws: ``ProcessingError/unsupportedSampleRate(_:)``.
    public init(sampleRate: Int) throws(ProcessingError) {
        guard CaptureProcessor.sampleRates.contains(sampleRate) else { throw .unsupportedSampleRate(sampleRate) }
        factor = sampleRate / Self.searchRate
        captureDecimator = Decimator(factor: factor, block: sampleRate / 100)
        referenceDecimator = Decimator(factor: factor, block: sampleRate / 100)
        decimated = RealVector(count: Self.searchRate / 100)
        transform = FourierTransform(size: Self.size)
        // Rises over nine tenths and falls over the newest tenth: a jump shows soon after it happened.
        for index in 0..<Self.window {
            let z = (Float(index) + 0.5) / Float(Self.window)
            taper[index] = z < 0.9 ? sinf(.pi / 2 * z / 0.9) : cosf(.pi / 2 * (z - 0.9) / 0.1)
        }
    }

    /// Takes a block of both signals; now and then ``estimate`` is new afterwards.
    ///
    /// - Returns: whether a delay was found or confirmed by this block.
    @discardableResult
    public mutating func run(capture block: Span<Float>, reference far: Span<Float>) -> Bool {
        let added = block.count / factor
        captureDecimator.run(block, into: &decimated)
        capture.push(decimated)
        referenceDecimator.run(far, into: &decimated)
        reference.push(decimated)
        heard = min(heard + added, Self.size)
        blocksSinceEstimate += 1
        let farTalks = isFarEndActive()
        if farTalks { activeBlocks += 1 }
        switch step {
        case .gather:
            // 0.1 s of signal is the least that a peak can be found in.
            let due = blocksSinceEstimate >= (isSettled ? Self.interval.locked : Self.interval.searching)
            guard due, farTalks, heard >= Self.searchRate / 10 else { return false }
            load()
            step = .transform
        case .transform:
            unsafe transform.forward(real: real.start, imaginary: imaginary.start)
            step = .correlate
        case .correlate:
            correlate()
            step = .choose
        case .choose:
            blocksSinceEstimate = 3
            step = .gather
            return choose()
        }
        return false
    }

    /// Forgets everything, as after a change of device.
    public mutating func reset() {
        capture.clear()
        reference.clear()
        crossReal.fill(0)
        crossImaginary.fill(0)
        (step, blocksSinceEstimate, heard, candidate, votes, activeBlocks) = (.gather, 0, 0, -1, 0, 0)
        (confirmedAt, foundAt, isProven) = (0, 0, false)
        estimate = nil
        peakToMedian = nil
    }

    /// A delay is believed and the last estimate agreed with it.
    private var isSettled: Bool {
        guard let estimate else { return false }
        return abs(candidate - estimate.delay / factor) <= Self.agreement
    }

    private func isFarEndActive() -> Bool {
        let recent = Self.searchRate / 5
        return energy(of: reference.span.extracting(last: recent)) > Self.activePower * Float(recent)
    }

    /// Both signals as one complex signal, so that one transform serves both: microphone real, reference imaginary.
    private mutating func load() {
        let valid = min(heard, Self.window)
        for index in 0..<Self.window {
            real[index] = index < Self.window - valid ? 0 : capture[index] * taper[index]
        }
        for index in Self.window..<Self.size { real[index] = 0 }
        imaginary.write(reference)
    }

    /// Separates the two spectra, averages the whitened cross-spectrum and transforms it back into `real`.
    private mutating func correlate() {
        let size = Self.size
        let past = estimate == nil ? Self.memory.searching : Self.memory.locked
        let low = Int(Self.band.low * Double(size) / Double(Self.searchRate))
        let high = Int(Self.band.high * Double(size) / Double(Self.searchRate))
        for bin in low...high {
            let zReal = real[bin]
            let zImaginary = imaginary[bin]
            let mirrorReal = real[size - bin]
            let mirrorImaginary = imaginary[size - bin]
            // Z = M + iR for real m and r: M = (Z[k] + Z*[-k]) / 2, R = (Z[k] - Z*[-k]) / 2i; the halves whiten away.
            let mReal = zReal + mirrorReal
            let mImaginary = zImaginary - mirrorImaginary
            let rReal = zImaginary + mirrorImaginary
            let rImaginary = mirrorReal - zReal
            let cReal = mReal * rReal + mImaginary * rImaginary
            let cImaginary = mReal * rImaginary - mImaginary * rReal
            let whiten = 1 / ((cReal * cReal + cImaginary * cImaginary).squareRoot() + 1e-12)
            crossReal[bin] = past * crossReal[bin] + (1 - past) * cReal * whiten
            crossImaginary[bin] = past * crossImaginary[bin] + (1 - past) * cImaginary * whiten
        }
        real.fill(0)
        imaginary.fill(0)
        for bin in low...high {
            real[bin] = crossReal[bin]
            imaginary[bin] = crossImaginary[bin]
            real[size - bin] = crossReal[bin]
            imaginary[size - bin] = -crossImaginary[bin]
        }
        // Exchanged arrays: the inverse transform. Its result is real.
        unsafe transform.forward(real: imaginary.start, imaginary: real.start)
    }

    /// The highest peak, and whether enough estimates in a row agree on it.
    private mutating func choose() -> Bool {
        // The microphone's window ends where the reference ends, so delay D stands at lag `lags - D`.
        var best = (value: Float(0), delay: 0)
        for delay in 0..<Self.lags {
            let value = abs(real[Self.lags - delay])
            if value > best.value { best = (value, delay) }
        }
        let median = histogram.median(real, count: Self.lags, largest: best.value)
        let peak = best.value / (median + 1e-20)
        let agrees = abs(best.delay - candidate) <= Self.agreement
        let grows = agrees && peak > Self.growth * (peakToMedian ?? 0)
        peakToMedian = peak
        votes = agrees ? votes + 1 : 1
        candidate = best.delay
        let needed = isProven ? Self.votesToMove(peak) : Self.votesToFind(peak, grows: grows)
        judgePresent(best.delay * factor, peak: peak)
        guard votes >= needed else { return false }
        if estimate == nil { foundAt = activeBlocks }
        confirmedAt = activeBlocks
        isProven = isProven || activeBlocks >= Self.probation
        estimate = Estimate(delay: best.delay * factor, confidence: peak / (peak + 40))
        return true
    }

    /// Agreeing estimates that it takes to believe in an echo.
    private static func votesToFind(_ peak: Float, grows: Bool) -> Int {
        switch peak {
        case 80...: 1
        case 45... where grows: 2
        case 28...: 4
        case 20...: 8
        default: .max
        }
    }

    /// Agreeing estimates that it takes to believe that a proven echo has moved: the window is full, so chance is
    /// rarer.
    private static func votesToMove(_ peak: Float) -> Int {
        switch peak {
        case 60...: 1
        case 30...: 2
        case 20...: 4
        default: .max
        }
    }

    /// Whether the new peak speaks for the delay that is believed; one that was found early and finds no proof is
    /// dropped.
    private mutating func judgePresent(_ delay: Int, peak: Float) {
        guard let present = estimate else { return }
        let agrees = abs(delay - present.delay) <= Self.agreement * factor
        if agrees, peak >= (isProven ? Self.weakPeak : Self.believablePeak) {
            confirmedAt = activeBlocks
            isProven = isProven || activeBlocks >= Self.probation
        }
        guard !isProven, activeBlocks - foundAt > Self.probation else { return }
        estimate = nil
        votes = 1
    }
}

/// The median of many magnitudes without sorting them: a histogram on a logarithmic scale.
private struct PeakMedian {
    /// Bins per factor of two; the median is good to about 4 %.
    private static let binsPerOctave: Float = 16
    private var bins = InlineArray<256, UInt16>(repeating: 0)

    mutating func median(_ values: borrowing RealVector, count: Int, largest: Float) -> Float {
        guard largest > 0 else { return 0 }
        for bin in bins.indices { bins[bin] = 0 }
        for index in 0..<count {
            let below = log2f(largest / (abs(values[index]) + largest * 1e-6)) * Self.binsPerOctave
            bins[min(255, max(0, Int(below)))] += 1
        }
        var seen = 0
        for bin in bins.indices {
            seen += Int(bins[bin])
            if seen * 2 >= count { return largest * exp2f(-(Float(bin) + 0.5) / Self.binsPerOctave) }
        }
        return 0
    }
}
