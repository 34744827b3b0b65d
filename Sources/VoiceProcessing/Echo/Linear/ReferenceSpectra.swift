import VoiceSignal

/// The reference as the echo path's filter sees it: re-timed, as it is and cubed, in spectra of the last blocks.
///
///     far ──┬────────────> history ──┐ read at now − delay, resampled by its drift
///           └─> distortion ─> history ┘──> spectra of 20 ms ──> lanes: linear, then cubic
///
/// The delay can be set at any time: all lanes are then computed anew from the histories, which costs about as much as
/// a block's other work.
struct ReferenceSpectra: ~Copyable {
    /// Partitions of 10 ms.
    static let linear = 32
    static let cubic = 8
    static let lanes = linear + cubic
    static let block = 160
    /// What is kept of the reference: the longest delay, the filter and room to interpolate, seconds.
    private static let kept = 1.5

    private var far: ReferenceHistory
    private var cube: ReferenceHistory
    private var distortion: LoudspeakerDistortion
    private let interpolator = SincInterpolator()
    private var cubed = RealVector(count: block)
    /// The stretch that is interpolated from, and the one that comes of it: all lanes' frames at most.
    private var raw = RealVector(count: stretch + 2 * SincInterpolator.reach + 16)
    private var retimed = RealVector(count: stretch)
    private static let stretch = (linear + 1) * block
    /// The last two blocks, re-timed.
    private var recent = DelayLine(count: 2 * block)
    private var recentCube = DelayLine(count: 2 * block)
    private var newest = Spectrum()
    private var farEmphasis = Emphasis()
    private var cubeEmphasis = Emphasis()
    private var fresh = RealVector(count: block)
    private var plain = RealVector(count: block)
    private var lastPlain: Float = 0
    private var plainPowers = RealVector(count: Spectrum.bins)

    /// Spectra of the blocks, the newest in lane 0 and in lane `linear`.
    private(set) var spectra = Spectrum(lanes: lanes)
    /// By how much the reference is delayed.
    private(set) var delay = ReferenceDelay()

    init(sampleRate: Int) {
        far = ReferenceHistory(capacity: Int(Double(sampleRate) * Self.kept))
        cube = ReferenceHistory(capacity: Int(Double(sampleRate) * Self.kept))
        distortion = LoudspeakerDistortion(sampleRate: sampleRate)
        Emphasis.writePowers(into: &plainPowers)
    }

    /// Takes what was played in the last 10 ms, and pushes the newest block's spectra. One step, since a move between
    /// the two would fill the lanes with a block that they do not hold yet.
    mutating func take(_ block: borrowing RealVector, _ transform: inout BlockTransform) {
        append(block)
        advance(&transform)
    }

    private mutating func append(_ block: borrowing RealVector) {
        precondition(block.count == Self.block)
        farEmphasis.run(block, into: &fresh)
        Self.append(fresh, to: &far)
        distortion.run(block.span, into: &fresh)
        cubeEmphasis.run(fresh, into: &cubed)
        Self.append(cubed, to: &cube)
    }

    private mutating func advance(_ transform: inout BlockTransform) {
        delay.advance()
        read(Self.block, of: .far)
        recent.push(retimed, count: Self.block)
        updatePower()
        read(Self.block, of: .cube)
        recentCube.push(retimed, count: Self.block)
        transform.forward(recent, into: &newest)
        spectra.push(newest, first: 0, count: Self.linear)
        var upper: Float = 0
        for bin in ResidualEchoSuppressor.upper { upper += newest.power(bin) * plainPowers[bin] }
        upperPower += 0.02 * (upper - upperPower)
        transform.forward(recentCube, into: &newest)
        spectra.push(newest, first: Self.linear, count: Self.cubic)
    }

    /// Reads the reference elsewhere from now on, and all that the lanes hold too.
    mutating func move(to offset: Int, _ transform: inout BlockTransform) {
        delay.move(to: offset)
        refill(&transform)
    }

    /// Reads it by so many blocks later: what a lane holds is what another one held.
    mutating func move(by blocks: Int, _ transform: inout BlockTransform) {
        delay.move(by: blocks)
        refill(&transform)
    }

    private mutating func refill(_ transform: inout BlockTransform) {
        refill(.far, first: 0, count: Self.linear, &transform)
        refill(.cube, first: Self.linear, count: Self.cubic, &transform)
    }

    /// Delays the reference by a part of a frame more, and by more and more.
    mutating func adjust(by frames: Double, drift: Double) { delay.adjust(by: frames, drift: drift) }

    /// Power from 4 to 7 kHz, smoothed as the suppressor smooths the echo's.
    private(set) var upperPower: Float = 0

    /// The newest block's power, mean square.
    private(set) var power: Float = 0

    private mutating func updatePower() {
        plain.write(retimed, count: Self.block, at: 0)
        Emphasis.undo(&plain, from: lastPlain)
        lastPlain = plain[Self.block - 1]
        power = plain.energy / Float(Self.block)
    }

    private enum Source { case far, cube }

    /// Reads the last `count` frames, re-timed, into the beginning of `retimed`.
    private mutating func read(_ count: Int, of source: Source) {
        let first = far.end - Int64(count + delay.offset)
        guard !delay.isWhole else {
            switch source {
            case .far: far.read(from: first, count: count, into: &retimed)
            case .cube: cube.read(from: first, count: count, into: &retimed)
            }
            return
        }
        // Frame k is read at k − offset − fraction + drift (end − k): the fraction holds at the end.
        let before = SincInterpolator.reach + 4
        let needed = count + 2 * SincInterpolator.reach + 12
        switch source {
        case .far: far.read(from: first - Int64(before), count: needed, into: &raw)
        case .cube: cube.read(from: first - Int64(before), count: needed, into: &raw)
        }
        let start = Double(before) - delay.fraction + delay.drift * Double(count)
        unsafe interpolator.read(raw.start, from: start, step: 1 - delay.drift, into: retimed.start, count: count)
    }

    private static func append(_ block: borrowing RealVector, to history: inout ReferenceHistory) {
        history.append(block.span)
    }

    private mutating func refill(_ source: Source, first: Int, count: Int, _ transform: inout BlockTransform) {
        let frames = (count + 1) * Self.block
        read(frames, of: source)
        for lane in 0..<count {
            transform.forward(retimed, from: frames - (lane + 2) * Self.block, into: &newest)
            Self.place(newest, in: &spectra, lane: first + lane)
        }
        let last = frames - 2 * Self.block
        switch source {
        case .far: recent.push(retimed, from: last, count: 2 * Self.block)
        case .cube: recentCube.push(retimed, from: last, count: 2 * Self.block)
        }
    }

    private static func place(_ spectrum: borrowing Spectrum, in spectra: inout Spectrum, lane: Int) {
        for bin in 0..<Spectrum.bins {
            spectra.real[bin * lanes + lane] = spectrum.real[bin]
            spectra.imaginary[bin * lanes + lane] = spectrum.imaginary[bin]
        }
    }
}
