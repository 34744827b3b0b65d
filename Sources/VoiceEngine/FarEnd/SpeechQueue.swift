internal import VoiceDevices
internal import VoiceRealtime

/// The mix's end of a far end's queue: the sound of an in-process talker, pulled as the jitter buffer of a remote one
/// is.
///
///     sample ring ─► drop what is interrupted ─► fade where it runs dry ─► volume ─► mix
///     mark ring ────────────┘                          └─► SpeechTrail: which frames of which utterance
///
/// Run by the media thread. Runs dry in the middle of an utterance: a fade to silence, and a fade in when
/// ``resumeFrames`` wait. Held while somebody speaks into it: a fade to silence and nothing is taken, until it goes on
/// where it was, or a little before. Nothing is allocated after `init`.
struct SpeechQueue: ~Copyable, @unchecked Sendable {
    /// What must wait before an utterance that ran dry goes on: 40 ms, so that a source that is too slow does not
    /// crackle.
    private static var resumeFrames: Int { @_noLocks @_noAllocation get { 1_920 } }
    /// Marks passed in one pull at most: work for each input is bounded, what waits behind comes a pull later.
    private static var mostMarks: Int { @_noLocks @_noAllocation get { 16 } }

    private var samples: FrameConsumer
    private var marks: ValueConsumer<SpeechMark>
    private var nextMark: SpeechMark?
    private let cells: FarEndCells
    private var fade = UnderrunFade()
    private var volume = GainRamp(1)
    private var gain: Float = 1
    /// The factor by which somebody who speaks into it makes it quieter.
    private var ducking: Float = 1
    /// Whether it is silent, and kept, because somebody speaks into it.
    private(set) var isHeld = false
    /// The last frames read of the utterance, and how many of them are heard again before the ring's next.
    private var history = SpeechHistory()
    private var repeating = 0
    var trail = SpeechTrail()
    private(set) var counts = SpeechCounts()

    /// The utterance whose frames lie at the head, once it has begun and until its end.
    private var utterance: UInt32?
    /// Its frames pulled so far.
    private var position = 0
    private var isDry = false
    /// Whether the utterance was interrupted, and that was noted.
    private var isCut = false

    /// The client's requests as of the last look; nil before the first one.
    private var seen: SpeechView?
    /// What is seen instead, in a replay.
    var replayed: SpeechView?
    /// How many of its frames and marks are recorded.
    private var recordedFrames = 0
    private var recordedMarks = 0

    init(
        samples: consuming FrameConsumer, marks: consuming ValueConsumer<SpeechMark>, cells: FarEndCells
    ) {
        self.samples = samples
        self.marks = marks
        self.cells = cells
    }

    /// What the client wants, as the run sees it.
    var view: SpeechView { @_noLocks @_noAllocation get { seen ?? SpeechView(cells) } }

    /// Fixes what the next run sees of what the client says and wants, and has it recorded.
    mutating func look(number: UInt64, _ recorder: inout RunRecorder?) {
        // The samples first: the client writes a mark before those that it holds for.
        samples.look()
        marks.look()
        let view = replayed ?? SpeechView(cells)
        seen = view
        guard recorder != nil else { return }
        for index in max(recordedMarks - marks.readValues, 0)..<marks.available {
            recorder?.append(number, marks.peek(ahead: index))
        }
        recordedMarks = marks.readValues + marks.available
        recorder?.append(number, view, available: samples.writtenFrames)
        let read = samples.readFrames
        recordedFrames = max(recordedFrames, read)
        let reach = min(samples.writtenFrames, read + RunRecorder.farEndReach)
        guard reach > recordedFrames else { return }
        recorder?.append(
            number, from: recordedFrames, samples.peek(reach - recordedFrames, ahead: recordedFrames - read))
        recordedFrames = reach
    }

    /// How many frames wait.
    var queuedFrames: Int { @_noLocks @_noAllocation get { samples.available } }

    /// Fills `output` with what is next, silence where there is nothing.
    ///
    /// - Parameters:
    ///   - ringFrame: where the first of it will lie in the playout ring.
    ///   - scale: how many of the ring's frames each frame takes.
    @_noLocks @_noAllocation
    mutating func pull(into output: inout MutableSpan<Float>, ringFrame: Double, scale: Double) {
        let count = output.count
        var filled = 0
        var marksLeft = Self.mostMarks
        while filled < count {
            let step = next(room: count &- filled, marksLeft: &marksLeft)
            var piece = output._mutatingExtracting(filled..<(filled &+ step.outputFrames))
            carryOut(step, on: &piece, ringFrame: ringFrame + Double(filled) * scale, scale: scale)
            filled &+= step.outputFrames
        }
    }

    /// What a pull does next.
    private enum Step {
        /// Begins or ends an utterance.
        case pass(SpeechMark)
        /// Drops frames of an utterance that was interrupted.
        case drop(UInt32, frames: Int)
        /// Silence, behind the fade of what was heard last.
        case rest(frames: Int)
        /// Frames of the utterance that were heard before.
        case again(UInt32, frames: Int)
        /// The next frames of the utterance.
        case play(UInt32, frames: Int)

        /// How many frames of the output it fills.
        var outputFrames: Int {
            @_noLocks @_noAllocation get {
                switch self {
                case .pass, .drop: 0
                case .rest(let frames), .again(_, let frames), .play(_, let frames): frames
                }
            }
        }
    }

    /// Decides what comes next where `room` frames are missing, at least 1; of what is decided on, only a mark is taken.
    @_noLocks @_noAllocation
    private mutating func next(room: Int, marksLeft: inout Int) -> Step {
        // What fades out does so before anything else is heard, so that what was heard before an interruption is in no
        // fade after it.
        if fade.tailFrames > 0 { return .rest(frames: min(fade.tailFrames, room)) }
        // Before the marks, which the client writes before the samples: else samples behind a mark that is not seen yet
        // would be taken for the present utterance's.
        let available = samples.available
        if nextMark == nil { nextMark = marks.pop() }
        if isHeld && !isHeadInterrupted { return .rest(frames: room) }
        if repeating == 0, let mark = nextMark, mark.frame <= samples.readFrames {
            guard marksLeft > 0 else { return .rest(frames: room) }
            marksLeft &-= 1
            nextMark = nil
            return .pass(mark)
        }
        guard let utterance else { return .rest(frames: room) }
        let waiting = min(framesToMark, available)
        if isInterrupted(utterance) {
            return isCut && waiting == 0 ? .rest(frames: room) : .drop(utterance, frames: waiting)
        }
        if repeating > 0 { return .again(utterance, frames: min(repeating, room)) }
        if isDry && nextMark == nil && available < Self.resumeFrames { return .rest(frames: room) }
        return waiting > 0 ? .play(utterance, frames: min(waiting, room)) : .rest(frames: room)
    }

    @_noLocks @_noAllocation
    private mutating func carryOut(
        _ step: Step, on piece: inout MutableSpan<Float>, ringFrame: Double, scale: Double
    ) {
        switch step {
        case .pass(let mark): pass(mark)
        case .drop(let utterance, let frames):
            cut(utterance)
            samples.release(frames)
            counts.droppedFrames &+= frames
        case .rest(let frames):
            noteDry(frames)
            fade.complete(&piece, given: 0)
        case .again(let utterance, let frames):
            history.read(back: repeating, into: &piece)
            give(&piece, of: utterance, firstFrame: position &- repeating, ringFrame: ringFrame, scale: scale)
            repeating &-= frames
        case .play(let utterance, let frames):
            isDry = false
            _ = samples.read(into: &piece)
            history.append(piece)
            give(&piece, of: utterance, firstFrame: position, ringFrame: ringFrame, scale: scale)
            position &+= frames
            counts.playedFrames &+= frames
        }
    }

    /// Fades a piece of an utterance in where silence was before it, and notes where it will lie.
    @_noLocks @_noAllocation
    private mutating func give(
        _ piece: inout MutableSpan<Float>, of utterance: UInt32, firstFrame: Int, ringFrame: Double, scale: Double
    ) {
        let frames = piece.count
        fade.complete(&piece, given: frames)
        trail.pulled(utterance, firstFrame: firstFrame, frames: frames, ringFrame: ringFrame, scale: scale)
    }

    // MARK: Spoken into

    /// Whether something of it is being heard.
    var isSounding: Bool { utterance != nil && position > 0 && !isDry && !isCut && !isHeld }

    /// Makes it quieter by this factor, or 1 again, within so many frames of 48 kHz, at least 1.
    mutating func duck(by factor: Float, over frames: Int) {
        ducking = factor
        volume.move(to: gain * ducking, over: frames)
    }

    /// Falls silent and keeps what waits.
    mutating func hold() { isHeld = true }

    /// Goes on where it was held, or so many frames before.
    mutating func release(rewind: Int) {
        guard isHeld else { return }
        isHeld = false
        guard utterance != nil, !isCut else { return }
        repeating = min(repeating + rewind, history.count)
        isDry = false
    }

    /// Whether what is next is of an utterance that was interrupted: that is dropped also while it is held.
    private var isHeadInterrupted: Bool {
        @_noLocks @_noAllocation get {
            if let utterance { return isInterrupted(utterance) }
            guard let nextMark, !nextMark.isEnd else { return nextMark != nil }
            return isInterrupted(nextMark.utterance)
        }
    }

    /// How many frames lie before the next mark; without one, as many as there may be.
    private var framesToMark: Int {
        @_noLocks @_noAllocation get {
            guard let nextMark else { return .max }
            return nextMark.frame &- samples.readFrames
        }
    }

    /// Whether the client has given the utterance up.
    @_noLocks @_noAllocation
    private func isInterrupted(_ utterance: UInt32) -> Bool {
        view.isClosed || UInt64(utterance) < view.interruptedBound
    }

    @_noLocks @_noAllocation
    private mutating func pass(_ mark: SpeechMark) {
        guard mark.isEnd else {
            (utterance, position, isDry, isCut) = (mark.utterance, 0, false, false)
            repeating = 0
            history.forget()
            fade.reset()
            return
        }
        guard let utterance else { return }
        if isInterrupted(utterance) { cut(utterance) }
        if !isCut {
            trail.ended(utterance, isComplete: true)
            fade.reset()
        }
        self.utterance = nil
    }

    /// Breaks an utterance off: what was heard of it is all that will be.
    @_noLocks @_noAllocation
    private mutating func cut(_ utterance: UInt32) {
        guard !isCut else { return }
        isCut = true
        repeating = 0
        if position > 0 && !isDry { fade.breakOff() }
        trail.ended(utterance, isComplete: false)
        counts.interruptions &+= 1
    }

    @_noLocks @_noAllocation
    private mutating func noteDry(_ frames: Int) {
        guard utterance != nil, position > 0, !isCut, !isHeld else { return }
        if !isDry { counts.underruns &+= 1 }
        isDry = true
        counts.underrunFrames &+= frames
    }

    /// Fills `output` with what is next, by its volume.
    mutating func take(into output: inout MutableSpan<Float>, ringFrame: Double, scale: Double) {
        pull(into: &output, ringFrame: ringFrame, scale: scale)
        if view.gain != gain {
            gain = view.gain
            volume.move(to: gain * ducking)
        }
        volume.apply(to: &output)
    }

    /// Adds the next `mix.count` frames to `mix`, through `scratch` of the same length.
    mutating func mix(
        into mix: inout MutableSpan<Float>, scratch: inout MutableSpan<Float>, ringFrame: Double, scale: Double
    ) {
        take(into: &scratch, ringFrame: ringFrame, scale: scale)
        for index in 0..<mix.count { mix[index] += scratch[index] }
    }
}
