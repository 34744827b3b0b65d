import CVoiceKernels
import VoiceSignal

/// Finds the bins in which the echo estimate is wrong although the filter is right as a whole: there the error is
/// louder than the microphone, so that the estimate adds to it.
///
///     excess = |E|² − |D|²  where ⟨|E|²⟩ > 1.6 ⟨|D|²⟩, else 0        ⟨ ⟩: over 40 ms and 150 Hz
///
/// A filter grows sure of a bin that it has heard through a few harmonics of a voice only: they say nothing of what lies
/// between them. When a vowel's harmonic gets there, above all where the room lets little of it through, the estimate
/// may be 10 dB louder than the echo, and the filter takes the error for a near end.
///
/// Of an echo that has jumped the estimate is wrong as a whole, and in most bins: then nothing is told, since the filter
/// is to be kept as it is.
///
/// A near end that happens to be opposite to the echo looks the same for a moment, so this is of use only where the far
/// end is heard alone.
struct Overestimate: ~Copyable {
    /// Weight of a block: 40 ms.
    private static let weight: Float = 0.25
    /// Bins to each side that count.
    private static let reach = 1
    /// How much louder the error must be. With 1.25, 1.6 and 2.5, and whoever talks, double talk in a living room had
    /// 17.1, 20.6 and 21.2 dB of SDR, and 21.1 without any of it (`bench/run echo`, scenes of seeds 11 and 12).
    private static let ratio: Float = 1.6
    /// Share of the microphone's energy that the filter may leave for it to be right as a whole, and most bins that may
    /// be wrong at once.
    private static let right: (share: Float, bins: Int) = (0.5, 16)

    private var newError = RealVector(count: Spectrum.bins)
    private var newMicrophone = RealVector(count: Spectrum.bins)
    private var error = RealVector(count: Spectrum.bins)
    private var microphone = RealVector(count: Spectrum.bins)
    /// Power of the error that is the filter's own at least, in each bin of the last block: squared spectrum; 0 where
    /// nothing can be told.
    private(set) var excess = RealVector(count: Spectrum.bins)

    /// Takes a block's spectra, before the filter learns from it.
    ///
    /// - Parameters:
    ///   - left: energy of what the filter left of late.
    ///   - heard: the microphone's in that time.
    mutating func observe(
        error blockError: borrowing Spectrum, microphone blockMicrophone: borrowing Spectrum, left: Float,
        of heard: Float
    ) {
        precondition(blockError.lanes == 1 && blockMicrophone.lanes == 1)
        unsafe vk_mean_power(blockError.real.start, blockError.imaginary.start, Self.reach, newError.start)
        unsafe vk_mean_power(
            blockMicrophone.real.start, blockMicrophone.imaginary.start, Self.reach, newMicrophone.start)
        error.follow(newError, weight: Self.weight)
        microphone.follow(newMicrophone, weight: Self.weight)
        let wrong = unsafe vk_excess(
            newError.start, newMicrophone.start, error.start, microphone.start, Self.ratio, excess.start)
        if wrong > Self.right.bins || left >= Self.right.share * heard { excess.fill(0) }
    }
}
