/// Where a ``ProbePulse`` was found in a recording, and how surely.
package struct PulseDetection: Equatable, Sendable {
    /// The frame of the recording, 48 kHz, at which the pulse begins, between frames as well: to a hundredth of a frame
    /// where there is little noise, to within a frame down to the faintest pulse that is trusted.
    package let position: Double
    /// Correlation coefficient within the pulse's band, -1...1; its sign tells inverted polarity.
    package let correlation: Double
    /// How far the peak stands above the largest one more than ``peakFrames`` away; near 1 means a guess.
    package let peakRatio: Double
    /// The correlation that noise does not reach, for this pulse.
    package let leastCorrelation: Double

    /// Frames around a peak that belong to it, with the first reflections of a room: 10 ms at 48 kHz.
    package static let peakFrames = 480
    /// Least peak ratio of a place to believe in.
    package static let trustedPeakRatio = 1.3

    /// Whether the pulse is there: the correlation is no noise's, and no other place comes near it.
    package var isTrusted: Bool { abs(correlation) >= leastCorrelation && peakRatio >= Self.trustedPeakRatio }
}
