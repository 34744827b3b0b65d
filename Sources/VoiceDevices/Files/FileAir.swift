internal import Synchronization
internal import VoiceRealtime

/// The air of a ``FileDevice``: the microphone hears the input file, and what the loudspeaker sounds goes to the output
/// file, both by way of rings, so that the device's thread never waits for the disk.
///
/// Frame n of the output file sounded while frame n of the input was to be heard, whatever happens: input that comes
/// too late is skipped, and output that is not there, because the device stood still or the ring to the disk is full,
/// is a gap that the writer fills with silence.
struct FileAir: AcousticAir, ~Copyable {
    private var input: FrameConsumer
    private var output: FrameProducer
    private var gaps: ValueProducer<OutputGap>
    private let progress: FileProgress
    /// Frames of the input whose time has passed and which have not come out of the ring yet.
    private var overdue = 0
    /// Whether they are because the device stood still, which is not the disk's fault.
    private var hasStoodStill = false
    /// Frames that are in the output ring, and those that are missing since the last of them.
    private var written = 0
    private var missing = 0

    init(
        input: consuming FrameConsumer, output: consuming FrameProducer, gaps: consuming ValueProducer<OutputGap>,
        progress: FileProgress
    ) {
        self.input = input
        self.output = output
        self.gaps = gaps
        self.progress = progress
    }

    mutating func process(speaker: Span<Float>, into microphone: inout MutableSpan<Float>) {
        hear(&microphone)
        sound(speaker)
        progress.addSounded(speaker.count)
    }

    mutating func pass(frames: Int, period: Int) {
        overdue += frames
        hasStoodStill = true
        missing += frames
        progress.addSounded(frames)
    }

    private mutating func hear(_ microphone: inout MutableSpan<Float>) {
        // Looked at first: whatever the reader put in before it ended can then be seen as well.
        let isWholeInputThere = progress.isWholeInputThere
        let skipped = min(overdue, input.available)
        input.release(skipped)
        overdue -= skipped
        if overdue == 0 { hasStoodStill = false }
        let heard = overdue == 0 ? input.read(into: &microphone) : 0
        for index in heard..<microphone.count { microphone[index] = 0 }
        guard heard < microphone.count else { return }
        if isWholeInputThere {
            progress.endInput()
        } else {
            overdue += microphone.count - heard
            if !hasStoodStill { progress.addLate(microphone.count - heard) }
        }
    }

    private mutating func sound(_ speaker: Span<Float>) {
        let count = speaker.count
        // The gap is told before what follows it.
        if missing > 0, output.acquire(count).count == count,
            gaps.push(OutputGap(position: written, frames: missing))
        {
            missing = 0
        }
        guard missing == 0, output.acquire(count).count == count else {
            missing += count
            progress.addLost(count)
            return
        }
        written += output.write(speaker, time: MonotonicTime(nanoseconds: 0))
    }
}

/// Frames of the output that are not in its ring.
struct OutputGap: BitwiseCopyable, Sendable {
    /// How many frames of the ring come before it.
    var position: Int
    var frames: Int

    /// Gaps that can be under way; what comes when there is no room is part of the next one.
    static let capacity = 64
}

/// How far the files of a device have come, as seen from all its threads.
final class FileProgress: Sendable {
    private let whole: Atomic<Bool>
    private let ended = Atomic<Bool>(false)
    private let late = Atomic<Int>(0)
    private let lost = Atomic<Int>(0)
    private let sounded = Atomic<Int>(0)

    /// Whether there is an input file at all.
    let hasInput: Bool

    init(hasInput: Bool) {
        self.hasInput = hasInput
        whole = Atomic(!hasInput)
    }

    /// True once the reader has put the last frame of the input into its ring, or there is no input.
    var isWholeInputThere: Bool { whole.load(ordering: .acquiring) }

    func completeInput() { whole.store(true, ordering: .releasing) }

    /// True once the microphone has heard the last frame of the input.
    var hasInputEnded: Bool { ended.load(ordering: .acquiring) }

    func endInput() { ended.store(true, ordering: .releasing) }

    func addLate(_ frames: Int) { late.add(frames, ordering: .relaxed) }

    func addLost(_ frames: Int) { lost.add(frames, ordering: .relaxed) }

    /// Frames that have passed at the loudspeaker: as many as the output has when it is complete.
    var soundedFrames: Int { sounded.load(ordering: .acquiring) }

    func addSounded(_ frames: Int) { sounded.add(frames, ordering: .releasing) }

    /// The late and lost frames since this was last asked.
    func takeCounts() -> (late: Int, lost: Int) {
        (late.exchange(0, ordering: .relaxed), lost.exchange(0, ordering: .relaxed))
    }
}
