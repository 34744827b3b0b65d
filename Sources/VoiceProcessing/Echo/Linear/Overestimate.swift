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
/// An echo that has jumped is wrong in most bins: then nothing is told, since it is not the bins that are to be learned.
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
    /// Most bins that may be wrong at once.
    private static let most = 16

    private var newError = RealVector(count: Spectrum.bins)
    private var newMicrophone = RealVector(count: Spectrum.bins)
    private var error = RealVector(count: Spectrum.bins)
    private var microphone = RealVector(count: Spectrum.bins)
    /// Power of the error that is the filter's own at least, in each bin of the last block: squared spectrum; 0 where
    /// nothing can be told.
    private(set) var excess = RealVector(count: Spectrum.bins)

    /// Takes a block's spectra, before the filter learns from it.
    mutating func observe(error blockError: borrowing Spectrum, microphone blockMicrophone: borrowing Spectrum) {
        precondition(blockError.lanes == 1 && blockMicrophone.lanes == 1)
        unsafe vk_mean_power(blockError.real.start, blockError.imaginary.start, Self.reach, newError.start)
        unsafe vk_mean_power(
            blockMicrophone.real.start, blockMicrophone.imaginary.start, Self.reach, newMicrophone.start)
        var wrong = 0
        for bin in 0..<Spectrum.bins {
            error[bin] += Self.weight * (newError[bin] - error[bin])
            microphone[bin] += Self.weight * (newMicrophone[bin] - microphone[bin])
            let isWrong = error[bin] > Self.ratio * microphone[bin]
            excess[bin] = isWrong ? max(0, newError[bin] - newMicrophone[bin]) : 0
            if isWrong { wrong += 1 }
        }
        if wrong > Self.most { excess.fill(0) }
    }
}
