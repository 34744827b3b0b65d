/// An echo canceller, or whatever takes its place: the part of a ``CaptureProcessor`` that differs between backends.
///
/// What comes before and after it is the processor's: bounds, subnormal numbers, crossfades over changes, noise, gain,
/// speech, levels. A stage has one owner, the thread that processes; it allocates when it is made and not after. It is
/// a class so that a processor can hold any of them.
public protocol EchoStage: AnyObject {
    /// What the stage can do; never changes.
    var traits: EchoTraits { get }

    /// Frames by which its output lags its input in the settings last applied.
    var delay: Int { get }

    /// Changes what is done, from the next block on. Called with the first settings too, before the first block.
    ///
    /// - Parameter settings: what of the requested settings ``traits`` allow.
    /// - Returns: frames from now on during which the new output is not to be heard yet, because it is silent or
    ///   unsettled: the processor continues the old output meanwhile and crossfades. Nil where the change makes neither
    ///   a gap nor a click.
    /// - Throws: ``ProcessingError/libraryRefused(code:)``; the old settings stay.
    func apply(_ settings: ProcessingSettings) throws(ProcessingError) -> Int?

    /// Processes a block in place. Never blocks on anything but a library, never allocates.
    ///
    /// - Parameters:
    ///   - capture: 10 ms of microphone, or fewer with ``EchoTraits/takesShortBlocks``; all samples are numbers within
    ///     ±2, and subnormal
    ///     numbers count as 0. Holds the output on return.
    ///   - reference: as many frames of what was played, bounded likewise.
    ///   - delay: frames from a reference frame's entry to the arrival of its echo, as far as it is known; see
    ///     ``CaptureProcessor/run(capture:reference:delay:)``.
    ///   - report: what the stage knows of the echo goes in here, and ``ProcessingReport/processed`` becomes false
    ///     where it failed.
    func run(capture: inout MutableSpan<Float>, reference: Span<Float>, delay: Int, report: inout ProcessingReport)
}
