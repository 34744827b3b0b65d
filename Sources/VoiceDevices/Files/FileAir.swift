internal import Synchronization
internal import VoiceRealtime

/// The air of a ``FileDevice``: the microphone hears the input file, and what the loudspeaker sounds goes to the output
/// file, both by way of rings, so that the device's thread never waits for the disk.
struct FileAir: AcousticAir, ~Copyable {
    private var input: FrameConsumer
    private var output: FrameProducer
    private let progress: FileProgress

    init(input: consuming FrameConsumer, output: consuming FrameProducer, progress: FileProgress) {
        self.input = input
        self.output = output
        self.progress = progress
    }

    mutating func process(speaker: Span<Float>, into microphone: inout MutableSpan<Float>) {
        // Looked at first: whatever the reader put in before it ended can then be seen as well.
        let isWholeInputThere = progress.isWholeInputThere
        let heard = input.read(into: &microphone)
        for index in heard..<microphone.count { microphone[index] = 0 }
        if heard < microphone.count {
            if isWholeInputThere { progress.endInput() } else { progress.addLate(microphone.count - heard) }
        }
        let count = speaker.count
        let written = output.write(speaker, time: MonotonicTime(nanoseconds: 0))
        if written < count { progress.addLost(count - written) }
    }
}

/// How far the files of a device have come, as seen from all its threads.
final class FileProgress: Sendable {
    private let whole: Atomic<Bool>
    private let ended = Atomic<Bool>(false)
    private let late = Atomic<Int>(0)
    private let lost = Atomic<Int>(0)

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

    /// The late and lost frames since this was last asked.
    func takeCounts() -> (late: Int, lost: Int) {
        (late.exchange(0, ordering: .relaxed), lost.exchange(0, ordering: .relaxed))
    }
}
